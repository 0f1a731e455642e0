package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// colours says what the panel shows in green, orange and red.
func (p boardPanel) colours() (lines []string) {
	shown := map[string][]string{}
	add := func(color, what string) {
		switch {
		case strings.HasSuffix(color, "red"):
			color = "Red"
		case strings.HasSuffix(color, "orange"):
			color = "Orange"
		case color == "green":
			color = "Green"
		default:
			return
		}
		if what != "" && !slices.Contains(shown[color], what) {
			shown[color] = append(shown[color], what)
		}
	}
	d := p.FieldConfig.Defaults
	mapped := false
	for _, m := range d.Mappings {
		m.each(func(texts, color string) { mapped = true; add(color, texts) })
	}
	if !mapped {
		d.Thresholds.each(d.Unit, add)
	}
	for _, o := range p.FieldConfig.Overrides {
		if name := p.series(o); name != "" {
			o.each(name, d.Unit, add)
		}
	}
	for _, color := range []string{"Green", "Orange", "Red"} {
		if what := shown[color]; len(what) > 0 {
			lines = append(lines, color+": "+strings.Join(what, ", "))
		}
	}
	return lines
}

var template = regexp.MustCompile(`\{\{[^}]*\}\}`)

// series is what a reader sees of the override's series: a column, a label value or
// a legend; empty for a legend that is all variable.
func (p boardPanel) series(o override) string {
	if o.Matcher.ID != "byFrameRefID" {
		name := strings.TrimSuffix(strings.TrimPrefix(o.Matcher.Options, ".* "), " .*")
		if name == ".*" {
			return ""
		}
		return name
	}
	for _, t := range p.Targets {
		if t.RefID == o.Matcher.Options && t.RefID != "More" {
			return strings.Trim(template.ReplaceAllString(t.Legend, ""), " :,/")
		}
	}
	return ""
}

// each says what an override colours. A name alone means that the whole series has
// the colour.
func (o override) each(name, unit string, add func(color, what string)) {
	name = "`" + name + "`"
	for _, property := range o.Properties {
		switch property.ID {
		case "unit":
			_ = json.Unmarshal(property.Value, &unit)
		case "color":
			var c struct{ FixedColor string }
			if json.Unmarshal(property.Value, &c) == nil {
				add(c.FixedColor, name)
			}
		case "thresholds":
			var t thresholds
			if json.Unmarshal(property.Value, &t) == nil {
				t.each(unit, func(color, what string) {
					if color != "green" {
						add(color, strings.TrimSpace(name+" "+what))
					}
				})
			}
		case "mappings":
			var all []mapping
			if json.Unmarshal(property.Value, &all) != nil {
				continue
			}
			for _, m := range all {
				m.each(func(texts, color string) { add(color, name+" is "+texts) })
			}
		}
	}
}

// unbounded is beyond every real value: such a step only sets apart values that are
// not known.
const unbounded = 1e6

// tiny is a threshold that means: any event at all.
func tiny(v *float64) bool { return *v != 0 && math.Abs(*v) < 1e-6 }

// each says which values have which colour; nothing for a line that has its colour
// as soon as there is an event.
func (t thresholds) each(unit string, add func(color, what string)) {
	for i, s := range t.Steps {
		low := s.Value != nil && *s.Value > -unbounded
		high := i+1 < len(t.Steps) && math.Abs(*t.Steps[i+1].Value) < unbounded
		switch {
		case low && high:
			add(s.Color, value(*s.Value, unit)+" to "+value(*t.Steps[i+1].Value, unit))
		case low && tiny(s.Value), high && tiny(t.Steps[i+1].Value):
			add(s.Color, "")
		case low:
			add(s.Color, "from "+value(*s.Value, unit))
		case high:
			add(s.Color, "below "+value(*t.Steps[i+1].Value, unit))
		case s.Color == "red":
			add(s.Color, "every entry")
		}
	}
}

// value prints a threshold. Numbers without a unit are counts.
func value(v float64, unit string) string {
	switch unit {
	case "percentunit":
		return strconv.FormatFloat(v*100, 'g', 4, 64) + " %"
	case "s":
		return strconv.FormatFloat(v, 'g', 4, 64) + " s"
	default:
		return fmt.Sprint(math.Ceil(v))
	}
}

// each says which texts have which colour, by the order of the values.
func (m mapping) each(add func(texts, color string)) {
	type result struct{ Text, Color string }
	if m.Type == "range" {
		var o struct{ Result result }
		if json.Unmarshal(m.Options, &o) == nil && strings.TrimSpace(o.Result.Text) != "" {
			add("`"+o.Result.Text+"`", o.Result.Color)
		}
		return
	}
	var o map[string]result
	if m.Type != "value" || json.Unmarshal(m.Options, &o) != nil {
		return
	}
	number := func(key string) int { n, _ := strconv.Atoi(key); return n }
	texts := map[string][]string{}
	for _, key := range slices.SortedFunc(maps.Keys(o), func(a, b string) int {
		return cmp.Or(number(a)-number(b), strings.Compare(a, b))
	}) {
		// A text without another one keeps its own.
		if text := cmp.Or(o[key].Text, key); strings.TrimSpace(text) != "" {
			texts[o[key].Color] = append(texts[o[key].Color], "`"+text+"`")
		}
	}
	for _, color := range slices.Sorted(maps.Keys(texts)) {
		add(strings.Join(texts[color], ", "), color)
	}
}
