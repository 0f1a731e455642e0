package kube

import (
	"bytes"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestValidateRefusesWhatTheServerWould(t *testing.T) {
	cases := map[string]struct {
		object Object
		want   string
	}{
		"a good object":       {Object{Name: "a-1.b", Namespace: "ns", Labels: map[string]string{"app.kubernetes.io/name": "x_1", "empty": ""}, Annotations: map[string]string{"a/b": "any text"}}, ""},
		"no name":             {Object{}, `name: "" is not a valid object name; use at most 253 lower-case letters, digits, - and dots`},
		"a capital letter":    {Object{Name: "A"}, `name: "A" is not a valid object name; use at most 253 lower-case letters, digits, - and dots`},
		"the longest name":    {Object{Name: strings.Repeat("a", 253)}, ""},
		"a long name":         {Object{Name: strings.Repeat("a", 254)}, `name: "` + strings.Repeat("a", 254) + `" is not a valid object name; use at most 253 lower-case letters, digits, - and dots`},
		"a dotted namespace":  {Object{Name: "a", Namespace: "a.b"}, `namespace: "a.b" is not a valid namespace; use at most 63 lower-case letters, digits and -`},
		"longest namespace":   {Object{Name: "a", Namespace: strings.Repeat("n", 63)}, ""},
		"a long namespace":    {Object{Name: "a", Namespace: strings.Repeat("n", 64)}, `namespace: "` + strings.Repeat("n", 64) + `" is not a valid namespace; use at most 63 lower-case letters, digits and -`},
		"a label with blanks": {Object{Name: "a", Labels: map[string]string{"a b": "x"}}, `labels: "a b" is not a valid label name; use letters, digits, dots, - and _`},
		"a value with blanks": {Object{Name: "a", Labels: map[string]string{"a": "x y"}}, `labels: "x y" is not a valid value of the label a; use at most 63 letters, digits, dots, - and _`},
		"a bad annotation":    {Object{Name: "a", Annotations: map[string]string{"": "x"}}, `annotations: "" is not a valid annotation name; use letters, digits, dots, - and _`},
		"the longest prefix":  {Object{Name: "a", Annotations: map[string]string{strings.Repeat("a", 253) + "/b": "x"}}, ""},
		"a long prefix": {Object{Name: "a", Annotations: map[string]string{strings.Repeat("a", 254) + "/b": "x"}},
			`annotations: "` + strings.Repeat("a", 254) + `/b" is not a valid annotation name; use letters, digits, dots, - and _`},
		"everything": {Object{Name: "A", Namespace: "B", Labels: map[string]string{"a b": "x y", "c": "?"}, Annotations: map[string]string{"d e": "", "f g": ""}},
			`name: "A" is not a valid object name; use at most 253 lower-case letters, digits, - and dots` + "\n" +
				`namespace: "B" is not a valid namespace; use at most 63 lower-case letters, digits and -` + "\n" +
				`labels: "a b" is not a valid label name; use letters, digits, dots, - and _` + "\n" +
				`labels: "x y" is not a valid value of the label a b; use at most 63 letters, digits, dots, - and _` + "\n" +
				`labels: "?" is not a valid value of the label c; use at most 63 letters, digits, dots, - and _` + "\n" +
				`annotations: "d e" is not a valid annotation name; use letters, digits, dots, - and _` + "\n" +
				`annotations: "f g" is not a valid annotation name; use letters, digits, dots, - and _`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := c.object.Validate(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWithKeepsWhatWasThere(t *testing.T) {
	o := Object{Name: "a", Namespace: "ns", Labels: map[string]string{"x": "mine"}}
	got := o.With("b", map[string]string{"x": "theirs", "y": "1"}, map[string]string{"z": "2"})
	want := Object{Name: "b", Namespace: "ns", Labels: map[string]string{"x": "mine", "y": "1"}, Annotations: map[string]string{"z": "2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A chart's template is a Go template.
func TestAChartRendersTheTextThatWasGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"{", "}", "{{", "}}", `"`, "`", "$labels.x", "-", " ", "\n", "/*", "é"})).Draw(t, "text"), "")
		chart, err := template.New("chart").Parse(string(Helm([]byte(text))))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := chart.Execute(&out, nil); err != nil {
			t.Fatal(err)
		}
		if out.String() != text {
			t.Errorf("got %q, want %q", out.String(), text)
		}
	})
}
