package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/leaderscope/leaderscope/exporter/status"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// hostileNames are what a policy that lets names through would let through.
var hostileNames = []string{
	"", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", "</title></style></textarea><svg/onload=1>", "{{.}}", "a&b=c#d?e",
	"\u202egnp.exe", "עברית-\u2067x", "a\x00b\r\nSet-Cookie: x=1", "\xff\xfe", strings.Repeat("<", 10_000), strings.Repeat("é", 5_000), "%3Cscript%3E", "'; style='x",
}

func TestHostileLabelsStayText(t *testing.T) {
	m := newMiddleware(t)
	h := status.Handler(m, status.WithInstance(hostileNames[2]))
	for _, name := range hostileNames {
		acquire(t, m.Named(name, instrument.Backend(name), instrument.Family(name), instrument.Hold()), renewable())
	}
	d := decode(t, get(t, h, "/"))
	if len(d.Locks) != len(hostileNames) {
		t.Fatalf("%d locks of %d", len(d.Locks), len(hostileNames))
	}
	check := func(at string) {
		page := text(t, get(t, h, at))
		if len(page) > 100_000 {
			t.Errorf("%s: %d bytes", at, len(page))
		}
		for _, r := range page {
			if r == unicode.ReplacementChar || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && r != '\n' {
				t.Fatalf("%s: the page contains %U", at, r)
			}
		}
		for _, e := range elements(t, page) {
			for attr := range e.attrs {
				if strings.HasPrefix(attr, "on") || attr == "src" || e.name == "svg" || e.name == "script" || e.name == "img" {
					t.Errorf("%s: %s has %s=%q", at, e.name, attr, e.attrs[attr])
				}
			}
		}
		for _, link := range hrefs(t, page) { // each leads to what it says
			if !strings.Contains(link, "lock_name=") {
				continue
			}
			if r := decode(t, get(t, h, "/"+strings.ReplaceAll(link, "format=html", "format=json"))); len(r.Locks) != 1 {
				t.Errorf("%s: link %q leads to %d locks", at, link, len(r.Locks))
			}
		}
	}
	check("/?format=html")
	for _, l := range d.Locks {
		check("/?format=html&" + url.Values{"lock_name": {l.LockName}}.Encode())
	}
}

func TestThousandsOfLocksAreSharedOutAmongPages(t *testing.T) {
	const locks = 10_000
	m := newMiddleware(t, instrument.WithMaxLabels(locks))
	h := status.Handler(m)
	for i := range locks {
		e := m.Named(fmt.Sprintf("lock-%05d", i))
		if i%4000 == 3999 { // far behind by its label, and first all the same
			acquire(t, e, renewable())
		}
	}
	type part struct {
		page, locks int
		first, last string
	}
	for asked, want := range map[int]part{
		1:       {1, 256, "lock-03999", "lock-00253"},
		2:       {2, 256, "lock-00254", "lock-00509"},
		17:      {17, 256, "lock-04095", "lock-04350"},
		40:      {40, 16, "lock-09984", "lock-09999"},
		41:      {40, 16, "lock-09984", "lock-09999"},
		999_999: {40, 16, "lock-09984", "lock-09999"},
	} {
		d := decode(t, get(t, h, fmt.Sprintf("/?page=%d", asked)))
		if got := (part{d.Page, len(d.Locks), d.Locks[0].LockName, d.Locks[len(d.Locks)-1].LockName}); got != want {
			t.Errorf("page %d is %+v, want %+v", asked, got, want)
		}
		if d.Totals.Locks != locks || d.Totals.Leading != 2 || d.Pages != 40 {
			t.Errorf("page %d: %d pages, totals %+v", asked, d.Pages, d.Totals)
		}
	}
}

func TestThousandsOfLocksUnderOneLabelAreOneBoundedEntry(t *testing.T) {
	m := newMiddleware(t, instrument.WithRedactor(redact.Constant()))
	h := status.Handler(m)
	var terms []*instrument.Term
	for i := range 10_000 {
		terms = append(terms, acquire(t, m.Named(fmt.Sprint(i), instrument.LeaseDuration(time.Hour)), renewable()))
	}
	for _, term := range terms[:100] {
		release(t, term)
	}
	d := decode(t, get(t, h, "/"))
	l := d.Locks[0]
	if len(d.Locks) != 1 || !l.Shared || l.Active != 9900 || len(l.Open) != status.MaxOpenTerms || l.Omitted != 9900-status.MaxOpenTerms || len(l.Ended) != status.DefaultTerms {
		t.Errorf("%d locks, the first with %d active, %d open, %d omitted, %d ended", len(d.Locks), l.Active, len(l.Open), l.Omitted, len(l.Ended))
	}
	runtime.KeepAlive(terms)
}

func TestTheTimeIsThatOfTheMiddlewaresClock(t *testing.T) {
	m := newMiddleware(t, instrument.WithClock(&wild{time.Date(2030, 2, 3, 4, 5, 6, 789e6, time.UTC)}))
	m.Election("x")
	if got := decode(t, get(t, status.Handler(m), "/")).Time; got != "2030-02-03T04:05:06.789Z" {
		t.Error(got)
	}
}

// wild is a clock that anybody sets.
type wild struct{ now time.Time }

func (c *wild) Now() time.Time { return c.now }

func TestAClockThatIsSetIsSurvived(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ first, then time.Time }{
		"back by an hour":          {begin, begin.Add(-time.Hour)},
		"back to the beginning":    {begin, time.Time{}},
		"ahead by an hour":         {begin, begin.Add(time.Hour)},
		"ahead by ten thousand":    {begin, begin.AddDate(10_000, 0, 0)},
		"far ahead from the start": {begin.AddDate(20_000, 0, 0), begin.AddDate(20_000, 0, 1)},
		"before our era":           {begin.AddDate(-5_000, 0, 0), begin},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &wild{c.first}
			m := newMiddleware(t, instrument.WithClock(clock))
			h := status.Handler(m)
			e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(10*s))
			release(t, acquire(t, e, renewable()))
			acquire(t, e, renewable())
			e.Begin(context.Background())
			clock.now = c.then
			r := get(t, h, "/")
			d := decode(t, r)
			if r.StatusCode != http.StatusOK || len(d.Locks) != 1 || len(d.Locks[0].Ended) != 1 || d.Locks[0].Ended[0].Held != 0 {
				t.Errorf("%d: %+v", r.StatusCode, d)
			}
			for _, open := range d.Locks[0].Open {
				if held := open["held_seconds"].(float64); held < 0 {
					t.Errorf("held for %v", held)
				}
			}
			if page := get(t, h, "/?format=html"); page.StatusCode != http.StatusOK {
				t.Errorf("page: %d", page.StatusCode)
			} else if body := text(t, page); strings.Contains(body, "-0.") || strings.Contains(body, "NaN") {
				t.Error(body)
			} else if name == "back by an hour" && !strings.Contains(body, "released 0.0 s ago, held 0.0 s") {
				t.Errorf("a term that has not ended yet: %s", body)
			}
			get(t, status.Ready(m, status.NotWhileOverrun(), status.LeaderOnly(e)), "/")
		})
	}
}

// broken is a connection that has gone, in one way or the other.
type broken struct {
	http.ResponseWriter
	panics any
}

func (w broken) Write([]byte) (int, error) {
	if w.panics != nil {
		panic(w.panics)
	}
	return 0, errors.New("connection reset")
}

func TestAWriterThatFailsOrPanicsHarmsNobodyElse(t *testing.T) {
	m := newMiddleware(t)
	e := m.Election("x")
	h, ready := status.Handler(m), status.Ready(m)
	for _, panics := range []any{nil, "a middleware of the user's", http.ErrAbortHandler} {
		for _, handler := range []http.Handler{h, ready} {
			func() {
				defer func() {
					if got := recover(); got != panics {
						t.Errorf("panic %v, want %v", got, panics)
					}
				}()
				handler.ServeHTTP(broken{httptest.NewRecorder(), panics}, httptest.NewRequest("GET", "/", nil))
			}()
			release(t, acquire(t, e, renewable())) // no lock is held
			if r := get(t, handler, "/"); r.StatusCode != http.StatusOK {
				t.Errorf("then %d", r.StatusCode)
			}
		}
	}
	if m.Faults() != 0 {
		t.Errorf("%d faults", m.Faults())
	}
}

// slow is a reader that takes nothing until it is told to.
type slow struct {
	*httptest.ResponseRecorder
	reached chan<- struct{}
	goOn    <-chan struct{}
}

func (w slow) Write(b []byte) (int, error) {
	w.reached <- struct{}{}
	<-w.goOn
	return w.ResponseRecorder.Write(b)
}

func TestASlowReaderKeepsNoElectionWaiting(t *testing.T) {
	bubble(t, "while it reads", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(10*s))
		h := status.Handler(m)
		reached, goOn := make(chan struct{}), make(chan struct{})
		w := slow{httptest.NewRecorder(), reached, goOn}
		var reading sync.WaitGroup
		reading.Go(func() { h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil)) })
		<-reached
		release(t, acquire(t, e, renewable()))
		m.Election("y").Forget()
		if d := decode(t, get(t, h, "/")); len(d.Locks[0].Ended) != 1 {
			t.Errorf("another reader sees %+v", d)
		}
		_ = m.Close()
		close(goOn)
		reading.Wait()
		var d decoded // of before, and whole
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || len(d.Locks) != 1 || len(d.Locks[0].Ended) != 0 {
			t.Errorf("%v, %+v", err, d)
		}
	})
}

func TestForgottenElectionsLeaveNothing(t *testing.T) {
	m := newMiddleware(t)
	h := status.Handler(m)
	kept := m.Election("kept")
	for i := range 1000 {
		e := m.Named(fmt.Sprint(i))
		term := acquire(t, e, renewable())
		if i%2 == 0 {
			release(t, term)
		}
		e.Forget()
		if i%3 == 0 {
			release(t, term)
			_, _ = e.Acquire(context.Background(), electtest.Wins(renewable()))
		}
	}
	d := decode(t, get(t, h, "/"))
	if len(d.Locks) != 1 || d.Locks[0].LockName != kept.Label() {
		t.Errorf("%+v", d)
	}
}

func TestServingWhileRecordingAndForgettingIsSafe(t *testing.T) {
	m := newMiddleware(t)
	h, ready := status.Handler(m), status.Ready(m, status.NotWhileOverrun(), status.LeaderOnly(m.Election("x")))
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 200 {
				e := m.Named(fmt.Sprint("lock-", (w+i)%5), instrument.LeaseDuration(time.Millisecond))
				_ = e.Run(context.Background(), electtest.Wins(renewable()), func(context.Context, *instrument.Term) error { return nil })
				if i%7 == 0 {
					e.Forget()
				}
			}
		})
		workers.Go(func() {
			for range 20 {
				get(t, h, "/?format=html")
				get(t, ready, "/")
			}
		})
	}
	workers.Wait()
}

func TestALeaseThatWasOverWhenItWasWonWasHeldForNoTime(t *testing.T) {
	bubble(t, "by an hour", func(t *testing.T) {
		m := newMiddleware(t)
		h := status.Handler(m)
		e := m.Election("x")
		past := time.Now().Add(-time.Hour)
		acquire(t, e, instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return past })))
		d := decode(t, get(t, h, "/"))
		if l := d.Locks[0]; l.State != "standby" || len(l.Open) != 0 || len(l.Ended) != 1 || l.Ended[0].Cause != "expired" || l.Ended[0].Held != 0 {
			t.Errorf("%+v", l)
		}
	})
}

func TestALeaseThatIsLostHasNothingLeftAlthoughItsWorkContinues(t *testing.T) {
	for name, c := range map[string]struct {
		cause error
		state string // until the lease would have ended
	}{
		"as the library reports, and the lease keeps others out": {nil, "standby"},
		"as the backend has shown":                               {instrument.ErrSessionLost, "overrun"},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			h := status.Handler(m)
			term := acquire(t, m.Election("x", instrument.Hold(), instrument.LeaseDuration(10*s)), renewable())
			working, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				_ = term.Work(context.Background(), func(context.Context, *instrument.Term) error { <-working; return nil })
			}()
			time.Sleep(s)
			term.Sink().Lost(c.cause)
			time.Sleep(s)
			if l := decode(t, get(t, h, "/")).Locks[0]; l.State != c.state || l.Headroom != nil || len(l.Open) != 1 || l.Active != 0 {
				t.Errorf("while it works: %+v", l)
			}
			time.Sleep(10 * s)
			if l := decode(t, get(t, h, "/")).Locks[0]; l.State != "overrun" || l.Headroom == nil || *l.Headroom != -2 {
				t.Errorf("past the lease: %+v", l)
			}
			close(working)
			<-done
			if l := decode(t, get(t, h, "/")).Locks[0]; l.State != "standby" || l.Headroom != nil || len(l.Open) != 0 {
				t.Errorf("then: %+v", l)
			}
		})
	}
}
