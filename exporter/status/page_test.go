package status_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/exporter/status"
)

// element is a start tag of the page, with what is around it.
type element struct {
	name  string
	attrs map[string]string
	in    []string // names of the elements around it
	text  string   // all text within
}

// elements reads a page, whose tags must be closed in their order.
func elements(t *testing.T, page string) (all []*element) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.Replace(page, "<!DOCTYPE html>", "", 1)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var open []*element
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			for _, o := range open {
				e.in = append(e.in, o.name)
			}
			open, all = append(open, e), append(all, e)
		case xml.EndElement:
			if last := open[len(open)-1]; last.name != token.Name.Local {
				t.Fatalf("%s is closed within %s", token.Name.Local, last.name)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			for _, o := range open {
				o.text += string(token)
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("%s is not closed", open[0].name)
	}
	return all
}

func hrefs(t *testing.T, page string) (all []string) {
	t.Helper()
	for _, e := range elements(t, page) {
		if href, ok := e.attrs["href"]; ok {
			all = append(all, href)
		}
	}
	return all
}

// pages are the kinds of page that there are.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, file := range []string{"status.html", "lock.html"} {
		b, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = string(b)
	}
	many := newMiddleware(t)
	for i := range 3 * status.PageSize {
		if i%2 == 0 {
			acquire(t, many.Named(fmt.Sprint(i)), renewable())
		}
	}
	all["the second of several"] = text(t, get(t, status.Handler(many), "/?format=html&page=2"))
	all["empty"] = text(t, get(t, status.Handler(nil), "/?format=html"))
	return all
}

func TestThePageCanBeReadByAMachineThatReadsAloud(t *testing.T) {
	for name, page := range pages(t) {
		t.Run(name, func(t *testing.T) {
			ids, captions, tables, level := map[string]int{}, 0, 0, 0
			all := elements(t, page)
			for i, e := range all {
				ids[e.attrs["id"]]++
				switch e.name {
				case "html":
					if e.attrs["lang"] == "" {
						t.Error("the language is not named")
					}
				case "h1", "h2", "h3":
					if n := int(e.name[1] - '0'); n > level+1 {
						t.Errorf("heading %q skips a level", e.text)
					} else {
						level = n
					}
				case "table":
					tables++
					if all[i+1].name != "caption" || strings.TrimSpace(all[i+1].text) == "" {
						t.Error("a table has no caption")
					}
				case "caption":
					captions++
				case "th":
					if e.attrs["scope"] == "" {
						t.Errorf("heading %q has no scope", e.text)
					}
				case "td":
					if e.attrs["data-label"] == "" || strings.TrimSpace(e.text) == "" {
						t.Errorf("cell %q of %q cannot be read on a narrow screen", e.text, e.attrs["data-label"])
					}
				case "input":
					if !slices.ContainsFunc(all, func(l *element) bool { return l.name == "label" && l.attrs["for"] == e.attrs["id"] }) {
						t.Errorf("input %q has no label", e.attrs["name"])
					}
				case "section":
					if !strings.Contains(page, `id="`+e.attrs["aria-labelledby"]+`"`) {
						t.Errorf("section %q has no heading", e.attrs["aria-labelledby"])
					}
				}
				if slices.Contains(strings.Fields(e.attrs["class"]), "state") && strings.TrimSpace(strings.Trim(e.text, "▲●○◇ ")) == "" {
					t.Error("a state is shown by its colour and sign alone")
				}
			}
			for id, n := range ids {
				if id != "" && n > 1 {
					t.Errorf("%d elements have the id %q", n, id)
				}
			}
			for _, landmark := range []string{"main", "header", "footer", "title", "h1"} {
				if n := len(slices.DeleteFunc(slices.Clone(all), func(e *element) bool { return e.name != landmark })); n != 1 {
					t.Errorf("%d elements %s", n, landmark)
				}
			}
		})
	}
}

// What a page loads must be in it, and its style is what the header allows.
func TestThePageNeedsNoFileAndNoScript(t *testing.T) {
	allowed := regexp.MustCompile(`style-src 'sha256-([^']+)'`).FindStringSubmatch(get(t, status.Handler(nil), "/").Header.Get("Content-Security-Policy"))
	for name, page := range pages(t) {
		styles := 0
		for _, e := range elements(t, page) {
			for attr, value := range e.attrs {
				if attr == "src" || attr == "style" || attr == "srcset" || strings.HasPrefix(attr, "on") || attr == "href" && !strings.HasPrefix(value, "?") {
					t.Errorf("%s: %s has %s=%q", name, e.name, attr, value)
				}
			}
			switch e.name {
			case "script", "link", "img", "iframe", "object", "svg":
				t.Errorf("%s: %s", name, e.name)
			case "style":
				styles++
				sum := sha256.Sum256([]byte(e.text))
				if got := base64.StdEncoding.EncodeToString(sum[:]); len(allowed) != 2 || got != allowed[1] {
					t.Errorf("%s: the style has the digest %s, allowed is %v", name, got, allowed)
				}
				if strings.Contains(e.text, "url(") || strings.Contains(e.text, "@import") {
					t.Errorf("%s: the style loads a file", name)
				}
			}
		}
		if styles != 1 {
			t.Errorf("%s: %d styles", name, styles)
		}
	}
}

// The colours of text stand out from those behind it by WCAG's ratio of 4.5.
func TestColoursHaveContrast(t *testing.T) {
	style, err := os.ReadFile("page.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, _ := strings.Cut(string(style), "@media (prefers-color-scheme: dark)")
	dark, _, _ = strings.Cut(dark, "\n}\n")
	variable := regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)
	for name, block := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range variable.FindAllStringSubmatch(block, -1) {
			colours[m[1]] = m[2]
		}
		for _, pair := range [][2]string{
			{"text", "page"}, {"muted", "page"}, {"link", "page"},
			{"overrun", "overrun-back"}, {"leading", "leading-back"}, {"standby", "standby-back"}, {"watching", "watching-back"},
		} {
			if got := contrast(t, colours[pair[0]], colours[pair[1]]); got < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f", name, pair[0], pair[1], got)
			}
		}
	}
}

// contrast is the ratio of WCAG 2.2, "contrast ratio".
func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) (l float64) {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
		v := float64(n>>(8*i)&0xff) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		l += weight * v
	}
	return l
}
