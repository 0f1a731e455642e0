package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/dashboards"
)

// server is a Prometheus that answers from blocks or scrapes.
type server struct {
	cmd     *exec.Cmd
	address string
	version string
}

// startServer runs the binary on the blocks of dir, and with a configuration.
func startServer(ctx context.Context, binary, dir, settings string) (*server, error) {
	release, err := versionOf(ctx, binary)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{address: listener.Addr().String(), version: release}
	if err := listener.Close(); err != nil {
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, binary, "--config.file="+config, "--storage.tsdb.path="+dir,
		"--web.listen-address="+s.address, "--query.max-samples=500000000", "--log.level=error")
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for {
		if r, err := http.Get("http://" + s.address + "/-/ready"); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s does not get ready: %w", binary, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// versionOf is what the binary says of itself, or the version of its module
// where it was built without one.
func versionOf(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "--version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", binary, err)
	}
	if said := regexp.MustCompile(`version ([0-9]\S*)`).FindSubmatch(out); said != nil {
		return string(said[1]), nil
	}
	file, err := exec.LookPath(binary)
	if err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", binary, err)
	}
	return info.Main.Version, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// question is one query as Grafana would ask it.
type question struct {
	panel, ref, expr string
	instant          bool
	// step is the distance of the points; that of the scrapes if it is 0.
	step time.Duration
	// first: the panel is in the first row, which fills a screen.
	first bool
}

// view is the range that the dashboard shows, with what Grafana makes of it.
type view struct {
	end  time.Time
	span time.Duration
}

// fill puts in place of the variables what Grafana would for All.
func (v view) fill(expr string) string {
	for _, l := range append(dashboards.Default().Scope.Labels, dashboards.Default().Scope.Holder) {
		expr = strings.ReplaceAll(expr, `"$`+l+`"`, `".*"`)
	}
	return strings.NewReplacer("$__rate_interval", (4 * scrape).String(), "$__range", v.span.String(), "$__interval", scrape.String()).Replace(expr)
}

// took asks once and returns how long the server worked, and how many series
// it answered with.
func (s *server) took(ctx context.Context, v view, q question) (time.Duration, int, error) {
	form := url.Values{"query": {v.fill(q.expr)}, "stats": {"true"}}
	path := "/api/v1/query"
	if q.instant {
		form.Set("time", strconv.FormatInt(v.end.Unix(), 10))
	} else {
		path = "/api/v1/query_range"
		form.Set("start", strconv.FormatInt(v.end.Add(-v.span).Unix(), 10))
		form.Set("end", strconv.FormatInt(v.end.Unix(), 10))
		form.Set("step", cmp.Or(q.step, scrape).String())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+path, bytes.NewBufferString(form.Encode()))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, 0, err
	}
	var answer struct {
		Status, Error string
		Data          struct {
			Result []json.RawMessage
			Stats  struct {
				Timings struct{ ExecTotalTime float64 }
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	if answer.Status != "success" {
		return 0, 0, fmt.Errorf("panel %s, query %s: %s", q.panel, q.ref, answer.Error)
	}
	return time.Duration(answer.Data.Stats.Timings.ExecTotalTime * float64(time.Second)), len(answer.Data.Result), nil
}

// fastest asks some times, in turn with the reference so that both see the
// same machine, and returns the least of each.
func (s *server) fastest(ctx context.Context, v view, times int, q question) (least, against time.Duration, err error) {
	base := question{panel: "reference", expr: reference, instant: q.instant, step: q.step}
	var asked, ref []time.Duration
	for range times {
		d, _, err := s.took(ctx, v, q)
		if err != nil {
			return 0, 0, err
		}
		r, n, err := s.took(ctx, v, base)
		if err != nil || n == 0 {
			return 0, 0, fmt.Errorf("the reference query answers with %d series: %w", n, err)
		}
		asked, ref = append(asked, d), append(ref, r)
	}
	return slices.Min(asked), slices.Min(ref), nil
}

// board reads a dashboard's queries.
func board(build func(dashboards.Config) ([]byte, error), recording bool) ([]question, error) {
	cfg := dashboards.Default()
	cfg.Recording = recording
	data, err := build(cfg)
	if err != nil {
		return nil, err
	}
	var read struct {
		Panels []struct {
			Type    string
			Title   string
			Targets []struct {
				RefID, Expr string
				Instant     bool
			}
		}
		Annotations struct {
			List []struct{ Name, Expr, Step string }
		}
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return nil, err
	}
	var all []question
	rows := 0
	for _, p := range read.Panels {
		if p.Type == "row" {
			rows++
		}
		for _, t := range p.Targets {
			all = append(all, question{panel: p.Title, ref: t.RefID, expr: t.Expr, instant: t.Instant, first: rows == 1})
		}
	}
	for _, a := range read.Annotations.List {
		step, err := model.ParseDuration(a.Step)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %w", a.Name, err)
		}
		all = append(all, question{panel: "annotation: " + a.Name, expr: a.Expr, step: time.Duration(step)})
	}
	return all, nil
}

var lockVariable = regexp.MustCompile(`"\$lock_name"`)

// ofLock chooses one lock, as the dashboard of one lock does.
func ofLock(all []question, name string) []question {
	for i := range all {
		all[i].expr = lockVariable.ReplaceAllString(all[i].expr, strconv.Quote(name))
	}
	return all
}
