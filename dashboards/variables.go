package dashboards

import (
	"bytes"
	"regexp"

	"github.com/leaderscope/leaderscope/internal/query"
)

// Grafana reads $name, ${name} and [[name]] as its variables wherever they
// stand in a query. In a value of the selector they are text, whose first
// character is written by its number. PromQL's printer would undo that, so until
// all is printed a character of Unicode's private area stands for it.
var variables = regexp.MustCompile(`\$(\w|\{)|\[(\[\w)`)

const (
	hiddenDollar  = "\ue024"
	hiddenBracket = "\ue05b"
)

// printed are the matchers of the selector, ready for a query.
func (s Scope) printed() ([]query.Matcher, error) {
	matchers, err := s.matchers()
	for i, m := range matchers {
		matchers[i].Value = hideVariables(m.Value)
	}
	return matchers, err
}

func hideVariables(value string) string {
	return variables.ReplaceAllStringFunc(value, func(s string) string {
		if s[0] == '$' {
			return hiddenDollar + s[1:]
		}
		return hiddenBracket + s[1:]
	})
}

// showVariables writes what is hidden in the JSON of a dashboard, where PromQL
// has it as an escape in a string.
func showVariables(json []byte) []byte {
	json = bytes.ReplaceAll(json, []byte(`\\ue024`), []byte(`\\x24`))
	return bytes.ReplaceAll(json, []byte(`\\ue05b`), []byte(`\\x5b`))
}
