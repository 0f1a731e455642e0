package instrument_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// colliding gives names the label of their length, as a hash of few bits.
type colliding struct{ label string }

func (c colliding) Label(name string) redact.Label {
	return redact.Label{Text: fmt.Sprintf("%s%d", c.label, len(name)), Family: name[:1]}
}
func (colliding) Info() redact.Info { return redact.Info{Policy: redact.PolicyHash} }

func TestALabelOfTwoNamesIsShownAsSharedWhicheverCameFirst(t *testing.T) {
	for _, names := range [][]string{{"left", "down"}, {"down", "left"}, {"left", "down", "left", "here"}} {
		bubble(t, strings.Join(names, ", "), func(t *testing.T) {
			var text bytes.Buffer
			m := newMiddleware(t, instrument.WithRedactor(colliding{"k1:"}), instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
			var observed []string
			m.Attach(func(label string) instrument.Observer {
				o := &tape{label: label, values: map[string][]float64{}}
				observed = append(observed, label)
				return o
			})
			var handles []*instrument.Election
			for _, name := range names {
				e := m.Named(name)
				handles = append(handles, e)
				acquire(t, e, electtest.NewElector())
			}
			m.Named("alone!")
			if diff := cmp.Diff([]string{"k1:4*", "k1:6"}, electtest.Labels(m)); diff != "" {
				t.Error(diff)
			}
			r := electtest.Read(m, "k1:4*")
			if n := float64(len(names)); r["leader_attempts_total"] != n || r["leader_active"] != n {
				t.Errorf("active %v, attempts %v, want %v", r["leader_active"], r["leader_attempts_total"], n)
			}
			if handles[0].Label() != "k1:4*" || handles[0].String() != "k1:4*" || m.Collisions() != 1 {
				t.Errorf("label %v, %d collisions", handles[0], m.Collisions())
			}
			if diff := cmp.Diff([]string{"k1:4", "k1:4*", "k1:6"}, observed); diff != "" {
				t.Errorf("observers: %s", diff)
			}
			synctest.Wait()
			warning := `level=WARN msg="leaderscope: two lock names have the same label, which is reported as shared from now on" lock_name=k1:4*`
			if strings.Count(text.String(), warning) != 1 || strings.Contains(text.String(), "left") || strings.Contains(text.String(), "down") {
				t.Errorf("logged:\n%s", text.String())
			}
			for _, e := range handles {
				e.Forget()
			}
			if m.Named("down").Label() != "k1:4" {
				t.Error("a collision outlives its names")
			}
		})
	}
}

func TestHandlesOfOneNameAndSharedLabelsAreNoCollision(t *testing.T) {
	p := redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1", redact.Template("tenant-{id}"), redact.Exact("a", "b").Constant())
	m := newMiddleware(t, instrument.WithRedactor(p), instrument.WithMaxLabels(4))
	for _, name := range []string{"billing", "billing", "tenant-1", "tenant-2", "a", "b", "c", "d", "e", "f"} {
		m.Named(name)
	}
	if m.Collisions() != 0 {
		t.Errorf("%d collisions, want none; labels %v", m.Collisions(), electtest.Labels(m))
	}
}

func TestALongLabelOfTwoNamesStaysValid(t *testing.T) {
	m := newMiddleware(t, instrument.WithRedactor(colliding{strings.Repeat("é", 63) + "-"}))
	m.Election("a")
	m.Election("b")
	label := electtest.Labels(m)[0]
	if want := strings.Repeat("é", 63) + "-*"; label != want || len(label) != redact.MaxLabelSize {
		t.Errorf("label %q", label)
	}
}

func TestC21TheCapIsLoggedOnceWithoutTheName(t *testing.T) {
	bubble(t, "with the family of the first name", func(t *testing.T) {
		var text bytes.Buffer
		m := newMiddleware(t, instrument.WithMaxLabels(1), instrument.WithRedactor(redact.Raw(redact.Template("tenant-{id}").Raw())),
			instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		for i := range 10 {
			m.Named(fmt.Sprintf("tenant-%d", i))
		}
		synctest.Wait()
		_, line, _ := strings.Cut(strings.TrimSuffix(text.String(), "\n"), " ")
		want := `level=WARN msg="leaderscope: the cap on lock labels is reached, further names share one label; raise it with instrument.WithMaxLabels" lock_name=overflow max_labels=1 family=tenant-*`
		if diff := cmp.Diff(want, line); diff != "" {
			t.Error(diff)
		}
	})
}

func TestC21FamiliesAndBackendsMadeOfNamesStayBounded(t *testing.T) {
	m := newMiddleware(t, instrument.WithMaxLabels(2), instrument.WithRedactor(redact.Constant()))
	for i := range 10 {
		word := fmt.Sprintf("tenant-%d", i)
		m.Named(word, instrument.Family(word), instrument.Backend(word))
	}
	infos := map[string]bool{}
	for key := range electtest.Read(m, redact.Redacted) {
		if strings.HasPrefix(key, "leader_elector_info") {
			infos[key] = true
		}
	}
	want := map[string]bool{
		`leader_elector_info{mode="run",backend="tenant-0",family="tenant-0"}`: true,
		`leader_elector_info{mode="run",backend="tenant-1",family="tenant-1"}`: true,
		`leader_elector_info{mode="run",backend="overflow",family="overflow"}`: true,
	}
	if diff := cmp.Diff(want, infos); diff != "" {
		t.Error(diff)
	}
}

func TestPrintedHandlesShowTheirLabelAlone(t *testing.T) {
	type lease struct{ instrument.Lease }
	type secret struct {
		lease
		Name string
	}
	const name = "alice@example.com"
	m := newMiddleware(t, instrument.WithRedactor(redact.Constant(redact.Exact("label"))))
	e := m.Election("label")
	leaky := secret{lease{instrument.NewLease(nil)}, name}
	ctx := context.WithValue(context.Background(), ctxKey{}, name)
	attempt := e.Begin(ctx)
	term := e.Begin(ctx).Won(leaky)
	for _, v := range []any{m, e, attempt, term} {
		want := "label"
		if v == m {
			want = "leaderscope, names by policy constant"
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if got := fmt.Sprintf(verb, v); got != want {
				t.Errorf("%s of %T is %s", verb, v, got)
			}
		}
		if got := v.(slog.LogValuer).LogValue().String(); got != want {
			t.Errorf("%T is logged as %s", v, got)
		}
		if got := v.(fmt.Stringer).String(); got != want {
			t.Errorf("String of %T is %s", v, got)
		}
	}
}
