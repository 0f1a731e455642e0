package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

// memoryCost is what a server needs that scrapes a fleet.
type memoryCost struct {
	name string
	// series are those in the head; bytes are resident, beyond an idle server.
	series, bytes int
	// body are the bytes of one scrape of the first replica.
	body int
}

// Time between scrapes, and how many there are before memory is read.
const (
	memoryScrape  = 2 * time.Second
	memoryScrapes = 20
)

// memory runs the server on replicas that are real to it: the product's own handles
// and exporter, in this process.
func (c command) memory(ctx context.Context) (all []memoryCost, err error) {
	_, idle, err := c.scrapedServer(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name      string
		opts      []prom.Option
		lost, all bool
	}{
		{name: "one replica leads, the others wait"},
		{name: "the same, with native histograms only", opts: []prom.Option{prom.WithHistograms(prom.Native)}},
		{name: "one replica leads, each has lost an attempt", lost: true},
		{name: "each replica has led, worked and renewed", lost: true, all: true},
	} {
		var targets []*exported
		for replica := range c.replicas {
			e, err := newExported(ctx, c.locks, v.lost, func(lock int) bool { return v.all || lock%c.replicas == replica }, v.opts...)
			if err != nil {
				return nil, err
			}
			targets = append(targets, e)
		}
		cost, resident, err := c.scrapedServer(ctx, targets)
		for _, e := range targets {
			e.server.Close()
		}
		if err != nil {
			return nil, err
		}
		cost.name, cost.bytes = v.name, resident-idle
		log.Printf("%s: %d series, %d MB", v.name, cost.series, cost.bytes/1e6)
		all = append(all, cost)
	}
	return all, nil
}

// exported is one replica with its page of metrics.
type exported struct {
	address string
	server  *http.Server
}

func newExported(ctx context.Context, locks int, lost bool, leads func(lock int) bool, opts ...prom.Option) (*exported, error) {
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()), instrument.WithMaxLabels(locks))
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m, opts...); err != nil {
		return nil, err
	}
	for lock := range locks {
		e := m.Named("tenant-"+strconv.Itoa(lock)+"/orders", instrument.Hold(), instrument.LeaseDuration(15*time.Second), instrument.Backend("etcd"))
		if lost {
			e.Begin(ctx).NotAcquired(instrument.ErrContended)
		}
		if !leads(lock) {
			e.Begin(ctx) // waits
			continue
		}
		t := e.Begin(ctx).Won(instrument.NewLease(nil, instrument.RenewalsReported()))
		t.Sink().Renewed(instrument.Renewal{Sent: time.Now()})
		if err := t.Work(ctx, func(context.Context, *instrument.Term) error { return nil }); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &exported{address: listener.Addr().String(), server: &http.Server{Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), ReadHeaderTimeout: time.Minute}}
	go func() { _ = e.server.Serve(listener) }() // ends with Close
	return e, nil
}

// scrapedServer runs the server until it has scraped its targets often enough, and
// reads its own metrics.
func (c command) scrapedServer(ctx context.Context, targets []*exported) (cost memoryCost, resident int, err error) {
	dir, err := os.MkdirTemp("", "querycost-")
	if err != nil {
		return cost, 0, err
	}
	defer os.RemoveAll(dir)
	config := fmt.Sprintf("global: {scrape_interval: %s, scrape_timeout: %[1]s}\nscrape_configs:\n- job_name: fleet\n  scrape_native_histograms: true\n  static_configs:\n", memoryScrape)
	for _, t := range targets {
		config += "  - targets: [" + t.address + "]\n"
	}
	s, err := startServer(ctx, c.prometheus, dir, config)
	if err != nil {
		return cost, 0, err
	}
	defer s.stop()
	for scrapes := 0; scrapes < memoryScrapes; {
		select {
		case <-ctx.Done():
			return cost, 0, ctx.Err()
		case <-time.After(memoryScrape):
		}
		scrapes++
		if len(targets) == 0 {
			continue
		}
		if scrapes, err = s.own("prometheus_target_interval_length_seconds_count{"); err != nil {
			return cost, 0, err
		}
		scrapes /= len(targets)
	}
	if cost.series, err = s.own("prometheus_tsdb_head_series "); err != nil {
		return cost, 0, err
	}
	if resident, err = s.own("process_resident_memory_bytes "); err != nil {
		return cost, 0, err
	}
	if len(targets) > 0 {
		r, err := http.Get("http://" + targets[0].address)
		if err != nil {
			return cost, 0, err
		}
		defer r.Body.Close()
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			return cost, 0, err
		}
		cost.body = int(n)
	}
	return cost, resident, nil
}

// own reads a metric of the server itself; 0 if it has none yet.
func (s *server) own(prefix string) (int, error) {
	r, err := http.Get("http://" + s.address + "/metrics")
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), prefix) {
			v, err := strconv.ParseFloat(lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:], 64)
			return int(v), err
		}
	}
	return 0, lines.Err()
}
