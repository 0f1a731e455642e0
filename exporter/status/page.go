package status

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strconv"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// securityPolicy lets the page have its own style and nothing else: no script,
// no file, no frame.
var securityPolicy = "default-src 'none'; style-src 'sha256-" + digest(pageStyle) + "'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"words": inWords, "counted": counted, "causeText": func(cause string) string { return causeText[cause] },
}).Parse(pageText))

// page is what the template shows.
type page struct {
	*document
	Style   template.CSS
	Refresh int
	Filter  bool // one label was asked for
	One     *lockStatus
	States  []meaning
	Causes  []meaning
	Links   links
	query   query
}

// meaning is a word of a closed set and what it says.
type meaning struct{ Sign, Word, Text string }

type links struct{ All, JSON, Previous, Next, Refresh string }

func (h *handler) writePage(w io.Writer, q query) error {
	p := page{document: h.read(q), Style: template.CSS(pageStyle), Refresh: q.refresh, Filter: q.lockName != ""}
	if len(p.Locks) == 0 {
		q.lockName = "" // no label: it may be a lock's name, which is not repeated
	}
	p.query = q
	if len(p.Locks) == 1 && p.Pages == 1 {
		p.One = &p.Locks[0]
		p.Causes = causesOf(p.One.Ended)
	}
	for s := range states {
		p.States = append(p.States, meaning{stateSign[s], s.String(), stateText[s]})
	}
	p.Links = links{
		All:  q.link(func(q *query) { q.lockName, q.page = "", 1 }),
		JSON: q.link(func(q *query) { q.format, q.refresh = formatJSON, q.usual }),
	}
	if p.Page > 1 {
		p.Links.Previous = q.link(func(q *query) { q.page = p.Page - 1 })
	}
	if p.Page < p.Pages {
		p.Links.Next = q.link(func(q *query) { q.page = p.Page + 1 })
	}
	p.Links.Refresh = q.link(func(q *query) { q.refresh = otherRefresh(q) })
	return pageTemplate.Execute(w, p)
}

// otherRefresh turns refreshing off or on.
func otherRefresh(q *query) int {
	switch {
	case q.refresh > 0:
		return 0
	case q.usual > 0:
		return q.usual
	default:
		return int(DefaultRefresh.Seconds())
	}
}

// causesOf are the causes among these terms.
func causesOf(ended []endedTerm) (all []meaning) {
	seen := map[string]bool{}
	for _, e := range ended {
		if !seen[e.Cause] {
			seen[e.Cause] = true
			all = append(all, meaning{Word: e.Cause, Text: causeText[e.Cause]})
		}
	}
	return all
}

// LinkTo is the address of one lock's page.
func (p page) LinkTo(l lockStatus) string {
	return p.query.link(func(q *query) { q.lockName, q.page = l.LockName, 1 })
}

// Sign stands beside the word of the state.
func (l lockStatus) Sign() string { return stateSign[l.State] }

// RefreshText is the refresh for the header that asks for it.
func (p page) RefreshText() string { return strconv.Itoa(p.Refresh) }
