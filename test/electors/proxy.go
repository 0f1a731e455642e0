package electors

import (
	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// NewProxy starts a proxy on a free port before a server, whose connections can
// then be broken.
func NewProxy(upstream string) (*toxiproxy.Proxy, error) {
	metrics := toxiproxy.NewMetricsContainer(prometheus.NewRegistry())
	api := toxiproxy.NewServer(metrics, zerolog.Nop())
	p := toxiproxy.NewProxy(api, "replica", "127.0.0.1:0", upstream)
	return p, p.Start()
}
