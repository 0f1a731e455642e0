package status

import (
	"net/url"
	"strconv"
)

// The formats of an answer, as ?format= has them.
const (
	formatHTML = "html"
	formatJSON = "json"
)

const (
	maxRefresh = 3600 // seconds
	maxPage    = 1_000_000
)

// query is what a client asks for.
type query struct {
	format   string // empty: the Accept header decides
	lockName string // a label; empty: all
	page     int    // from 1
	refresh  int    // seconds; 0 never
	usual    int    // the refresh without being asked
}

// parseQuery reads the parameters; problem says what is wrong with them.
func parseQuery(v url.Values, refresh int) (q query, problem string) {
	q = query{format: v.Get("format"), lockName: v.Get("lock_name"), page: 1, refresh: refresh, usual: refresh}
	if q.format != "" && q.format != formatHTML && q.format != formatJSON {
		return q, "unknown format; valid formats: html, json"
	}
	if text := v.Get("page"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return q, "page must be a whole number between 1 and 1000000"
		}
		q.page = n
	}
	if text := v.Get("refresh"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxRefresh {
			return q, "refresh must be a whole number of seconds between 0 and 3600; 0 turns it off"
		}
		q.refresh = n
	}
	return q, ""
}

// link is the address of this query after a change, relative to the page.
func (q query) link(change func(*query)) string {
	change(&q)
	v := url.Values{}
	if q.format != "" {
		v.Set("format", q.format)
	}
	if q.lockName != "" {
		v.Set("lock_name", q.lockName)
	}
	if q.page > 1 {
		v.Set("page", strconv.Itoa(q.page))
	}
	if q.refresh != q.usual {
		v.Set("refresh", strconv.Itoa(q.refresh))
	}
	return "?" + v.Encode()
}
