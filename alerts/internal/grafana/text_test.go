package grafana

import (
	"testing"
)

func TestTemplatesBecomeGrafanas(t *testing.T) {
	cases := map[string]struct{ in, want, problem string }{
		"labels and the value":   {in: `{{ $labels.job }} {{ $value | humanize }}`, want: `{{ .Labels.job }} {{ .Values.query.Value | humanize }}`},
		"all labels":             {in: `{{ $labels }} {{ len $labels }} {{ printf "%v" ($labels) }}`, want: `{{ .Labels }} {{ len .Labels }} {{ printf "%v" (.Labels) }}`},
		"fields":                 {in: `{{ .Labels.job }} {{ .Value }} {{ $.Labels.job }} {{ $.Value }}`, want: `{{ .Labels.job }} {{ .Values.query.Value }} {{ $.Labels.job }} {{ $.Values.query.Value }}`},
		"a label that may lack":  {in: `{{ with $labels.job }}of {{ . }}{{ end }}`, want: `{{ with .Labels.job }}of {{ . }}{{ end }}`},
		"a question":             {in: `{{ with query (printf "x{a=%q}" $labels.a) }}{{ . | first }}{{ end }}`, want: `{{ with query (printf "x{a=%q}" .Labels.a) }}{{ . | first }}{{ end }}`},
		"the other side":         {in: `{{ with query "x" }}{{ else }}{{ $labels.a }}{{ end }}`, want: `{{ with query "x" }}{{ else }}{{ .Labels.a }}{{ end }}`},
		"a condition":            {in: `{{ if $labels.a }}{{ $labels.a }}{{ else if $value }}{{ $value }}{{ end }}`, want: `{{ if .Labels.a }}{{ .Labels.a }}{{ else if .Values.query.Value }}{{ .Values.query.Value }}{{ end }}`},
		"a label within a block": {in: `{{ with $labels.a }}{{ $labels.b }} {{ .Value }}{{ end }}`, want: `{{ with .Labels.a }}{{ $.Labels.b }} {{ .Value }}{{ end }}`},
		"a value within a loop":  {in: `{{ range query "x" }}{{ if true }}{{ printf "%f" ($value) }}{{ end }}{{ end }}`, want: `{{ range query "x" }}{{ if true }}{{ printf "%f" ($.Values.query.Value) }}{{ end }}{{ end }}`},
		"a field of a result":    {in: `{{ (query "x" | first).Labels.a }} {{ (index $labels "a").b }}`, want: `{{ (query "x" | first).Labels.a }} {{ (index .Labels "a").b }}`},
		"a variable of its own":  {in: `{{ $x := $labels.a }}{{ $x }}`, want: `{{ $x := .Labels.a }}{{ $x }}`},
		"a template of its own":  {in: `{{ define "t" }}costs $1 {{ .Value }}{{ end }}{{ template "t" $labels }}`, want: `{{ define "t" }}costs {{ "\x24" }}1 {{ .Value }}{{ end }}{{ template "t" .Labels }}`},
		"a dollar":               {in: `$HOME ${HOME} $$ {{- " $1 " }} {{ ` + "`${x}\\d`" + ` }}`, want: `{{ "\x24" }}HOME {{ "\x24" }}{HOME} {{ "\x24" }}{{ "\x24" }} {{- " \x241 " }} {{ "\x24{x}\\d" }}`},
		"what looks like labels": {in: `$labels $externalLabels {{ "$labels" }}`, want: `{{ "\x24" }}labels {{ "\x24" }}externalLabels {{ "\x24labels" }}`},
		"the server's address":   {in: `{{ $externalURL }} {{ .ExternalURL }} {{ $.ExternalURL }} {{ externalURL }}`, want: `{{ externalURL }} {{ externalURL }} {{ externalURL }} {{ externalURL }}`},
		"an empty text":          {},
		"no template":            {in: `plain {text}`, want: `plain {text}`},
		"labels of the server":   {in: `{{ $externalLabels.region }}`, problem: "$externalLabels are unknown to Grafana"},
		"the same as a field":    {in: `{{ .ExternalLabels.region }}`, problem: ".ExternalLabels are unknown to Grafana"},
		"the same by its root":   {in: `{{ with 1 }}{{ $.ExternalLabels }}{{ end }}`, problem: ".ExternalLabels are unknown to Grafana"},
		"half a template":        {in: `{{ $labels.a`, problem: "template: annotation:1: unclosed action"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Text(c.in)
			if c.problem != "" {
				if err == nil || err.Error() != c.problem {
					t.Errorf("got %v, want %s", err, c.problem)
				}
			} else if err != nil || got != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}
