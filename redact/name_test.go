package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestANameShowsItsLabelAndIsRevealedByOneMethod(t *testing.T) {
	const raw = "alice@example.com"
	label := hashed(t, key, "k1").Label(raw).Text
	n := hashed(t, key, "k1").Name(raw)
	if n.Reveal() != raw {
		t.Errorf("revealed %q", n.Reveal())
	}
	type holder struct {
		Public Name
		hidden Name // printers call no method of unexported fields
	}
	outputs := map[string]string{"String": n.String(), "GoString": n.GoString()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%20s", "%t"} {
		outputs[verb] = fmt.Sprintf(verb, n)
		outputs[verb+" of a pointer"] = fmt.Sprintf(verb, &n)
		outputs[verb+" in a slice"] = fmt.Sprintf(verb, []any{n})
		nested := fmt.Sprintf(verb, holder{n, n})
		if strings.Contains(nested, raw) || strings.Contains(nested, fmt.Sprintf("%x", raw)) {
			t.Errorf("%s in a struct gives %s", verb, nested)
		}
	}
	for what, v := range map[string]any{"JSON": n, "JSON in a struct": holder{Public: n}, "JSON map key": map[string]any{"lock": &n}} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		outputs[what] = string(text)
	}
	for what, v := range map[string]any{"slog": n, "slog of a slice": []any{n}} {
		var text, jsonText bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "lock", v)
		slog.New(slog.NewJSONHandler(&jsonText, nil)).Info("x", "lock", v)
		outputs[what+" as text"], outputs[what+" as JSON"] = text.String(), jsonText.String()
	}
	outputs["an error"] = fmt.Errorf("lock %v: %w", n, ErrKey).Error()
	plain, err := n.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	outputs["MarshalText"] = string(plain)
	for what, got := range outputs {
		if strings.Contains(got, raw) || strings.Contains(got, fmt.Sprintf("%x", raw)) {
			t.Errorf("%s gives the name away: %s", what, got)
		}
		if !strings.Contains(got, label) {
			t.Errorf("%s lacks the label: %s", what, got)
		}
	}
}

func TestANameIsQuotedWhereATextWouldBe(t *testing.T) {
	n := Raw().Name("a b")
	for verb, want := range map[string]string{
		"%v": "a b", "%+v": "a b", "%#v": `"a b"`, "%s": "a b", "%#s": "a b", "%q": `"a b"`, "%#q": `"a b"`, "%x": "a b", "%#x": "a b", "%d": "a b",
	} {
		if got := fmt.Sprintf(verb, n); got != want {
			t.Errorf("%s gives %s, want %s", verb, got, want)
		}
	}
}

func TestTheZeroNameIsRedacted(t *testing.T) {
	var n Name
	text, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%v %q %s %q", n, n, text, n.Reveal())
	if want := `redacted "redacted" "redacted" ""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
