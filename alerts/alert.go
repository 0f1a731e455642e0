package alerts

import (
	"reflect"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/internal/condition"
)

// alert is everything that is known of one alert. The type of its knobs
// implements it, so that a new alert is such a type, a field in [Alerts], a
// runbook text and scenarios: configuration, defaults, comments, validation,
// rules, runbook frame and the rows of the README follow.
type alert interface {
	about() about
	// preset gives the knobs their defaults.
	preset()
	// validate reports what cannot work, by the keys of the knobs.
	validate(c check)
	// rules are one draft for each severity that the alert can have.
	rules(b builder) []draft
}

// about is what texts say of an alert.
type about struct {
	// What it reports, and what dashboards call that.
	*condition.Condition
	// id begins the ids of its scenarios.
	id string
	// fires completes "fires when", in one line.
	fires string
	// note is the comment on its section of the configuration.
	note string
	// ofStore: the series are of a store, whose job need not be that of the
	// replicas.
	ofStore bool
}

// each visits the alerts in the order of the rules file, with their keys.
func (a *Alerts) each(visit func(key string, a alert)) {
	v := reflect.ValueOf(a).Elem()
	for i := range v.NumField() {
		visit(v.Type().Field(i).Tag.Get("yaml"), v.Field(i).Addr().Interface().(alert))
	}
}

// Key is what the configuration says of a knob.
type Key struct {
	// Path is the key as a file spells it, below alerts.
	Path string
	// Comment is one sentence or a few words.
	Comment string
	// Aside: the comment belongs beside the value, not above it.
	Aside bool
	// Default is the value as a file spells it; empty for sections.
	Default string
}

// Keys lists the knobs of all alerts, each section before its keys.
func Keys() []Key {
	var keys []Key
	d := Default()
	d.Alerts.each(func(key string, a alert) {
		keys = append(keys, Key{Path: key, Comment: a.about().note})
		keys = append(keys, knobs(key, reflect.ValueOf(a).Elem())...)
	})
	return keys
}

// knobs are the keys of a section, in the order in which a file prints them.
func knobs(prefix string, v reflect.Value) (keys []Key) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, inline, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case inline == "inline":
			keys = append(keys, knobs(prefix, v.Field(i))...)
		case f.Type.Kind() == reflect.Struct:
			keys = append(keys, Key{Path: prefix + "." + name, Comment: f.Tag.Get("help")})
			keys = append(keys, knobs(prefix+"."+name, v.Field(i))...)
		default:
			keys = append(keys, Key{Path: prefix + "." + name, Comment: f.Tag.Get("help"), Aside: true, Default: spelled(v.Field(i))})
		}
	}
	return keys
}

func spelled(v reflect.Value) string {
	if d, ok := v.Interface().(model.Duration); ok {
		return d.String()
	}
	return strings.TrimSpace(sprint(v.Interface()))
}

// Firing says whether and how an alert fires once its expression is true.
type Firing struct {
	Enabled  bool   `yaml:"enabled" help:"false leaves the alert out"`
	Severity string `yaml:"severity" help:"value of severityLabel"`
	// For is how long the expression must be true; 0: at once.
	For model.Duration `yaml:"for" help:"how long the condition must hold before the alert fires; 0s fires at once"`
	// KeepFiringFor is how long the alert outlives its expression; 0: not.
	KeepFiringFor model.Duration `yaml:"keepFiringFor" help:"keep firing this long after the condition clears; 0s disables"`
}
