//go:build unix

package stage

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// ServeMetrics is for the node: it serves h at /metrics on a free port of the
// loopback until stop, prints where and returns it.
func ServeMetrics(h http.Handler) (address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	address = "http://" + listener.Addr().String() + "/metrics"
	fmt.Println(metricsLine + address)
	return address, func() { server.Close() }, nil
}

// Metrics are the samples of one scrape.
type Metrics []Sample

// Sample is one series and its value. That of a histogram is its count.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

func scrape(ctx context.Context, address string) (Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	m, err := Parse(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", address, err)
	}
	return m, nil
}

// Parse reads what a node's /metrics answer.
func Parse(text io.Reader) (Metrics, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, err
	}
	var all Metrics
	for name, family := range families {
		for _, m := range family.GetMetric() {
			s := Sample{Name: name, Labels: map[string]string{}}
			s.Value = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			for _, l := range m.GetLabel() {
				s.Labels[l.GetName()] = l.GetValue()
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// Of is the sum of the series of that name that have these labels, given as
// name, value, name, value. Without any it is 0.
func (m Metrics) Of(name string, labels ...string) float64 {
	var sum float64
	for _, s := range m.Select(name, labels...) {
		sum += s.Value
	}
	return sum
}

// Select are the series of that name that have these labels.
func (m Metrics) Select(name string, labels ...string) Metrics {
	var found Metrics
next:
	for _, s := range m {
		if s.Name != name {
			continue
		}
		for i := 0; i+1 < len(labels); i += 2 {
			if s.Labels[labels[i]] != labels[i+1] {
				continue next
			}
		}
		found = append(found, s)
	}
	return found
}
