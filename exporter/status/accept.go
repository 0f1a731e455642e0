package status

import (
	"mime"
	"strconv"
	"strings"
)

const (
	typeHTML = "text/html"
	typeJSON = "application/json"
	typeText = "text/plain; charset=utf-8"
)

// preferred is the format that the Accept headers prefer, JSON where they have
// no preference, and empty where they accept neither (RFC 9110, 12.5.1).
func preferred(accept []string) string {
	ranges := mediaRanges(accept)
	if len(ranges) == 0 {
		return formatJSON
	}
	page, data := quality(ranges, typeHTML), quality(ranges, typeJSON)
	switch {
	case page == 0 && data == 0:
		return ""
	case page > data:
		return formatHTML
	default:
		return formatJSON
	}
}

// mediaRange is one element of an Accept header.
type mediaRange struct {
	pattern string
	quality float64
}

// mediaRanges are the elements that can be read; others are ignored.
func mediaRanges(accept []string) (all []mediaRange) {
	for element := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		pattern, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		r := mediaRange{pattern, 1}
		if text, ok := parameters["q"]; ok {
			q, err := strconv.ParseFloat(text, 64)
			if err != nil || !(q >= 0 && q <= 1) {
				continue
			}
			r.quality = q
		}
		all = append(all, r)
	}
	return all
}

// quality is that of the most specific range which covers the type; 0 without
// one.
func quality(ranges []mediaRange, mediaType string) (q float64) {
	group, _, _ := strings.Cut(mediaType, "/")
	best := 0
	for _, r := range ranges {
		specific := 0
		switch r.pattern {
		case mediaType:
			specific = 3
		case group + "/*":
			specific = 2
		case "*/*":
			specific = 1
		}
		if specific > best {
			best, q = specific, r.quality
		}
	}
	return q
}
