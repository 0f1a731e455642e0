package alerts

import (
	"reflect"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/internal/condition"
)

// alert describes one alert. The type of its settings implements it. A new alert
// needs such a type, a field in [Alerts], a runbook and scenarios: configuration,
// defaults, comments, validation, rules, runbook tables and the rows of the README
// follow.
type alert interface {
	about() about
	// preset sets the defaults.
	preset()
	// validate reports invalid settings by their keys.
	validate(c check)
	// rules returns one draft for each severity of the alert.
	rules(b builder) []draft
	// detect adds, for each of these rules, how soon it fires and what it does not
	// detect.
	detect(d *detector)
}

// about has the texts of an alert.
type about struct {
	// Condition is what the alert reports, and its name in dashboards.
	*condition.Condition
	// id is one or two letters that begin the ids of its scenarios.
	id string
	// fires completes "fires when", in one line.
	fires string
	// note is the comment on its section of the configuration.
	note string
	// ofStore: a store exports the series, and its job may differ from that of the
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

// Key describes a setting of the configuration.
type Key struct {
	// Path is the key in the file, below alerts.
	Path string
	// Comment is one sentence or a few words.
	Comment string
	// Aside: the comment is written beside the value, not above it.
	Aside bool
	// Default is the default value as written in a file; empty for sections.
	Default string
}

// Keys lists the settings of all alerts, each section before its keys.
func Keys() []Key {
	var keys []Key
	d := Default()
	d.Alerts.each(func(key string, a alert) {
		keys = append(keys, Key{Path: key, Comment: a.about().note})
		keys = append(keys, knobs(key, reflect.ValueOf(a).Elem())...)
	})
	return keys
}

// knobs returns the keys of a section, in the order of a printed file.
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

// Firing has the settings that all alerts share.
type Firing struct {
	Enabled  bool   `yaml:"enabled" help:"false leaves the alert out"`
	Severity string `yaml:"severity" help:"value of severityLabel"`
	// For is how long the expression must be true; 0 fires at once.
	For model.Duration `yaml:"for" help:"how long the condition must hold before the alert fires; 0s fires at once"`
	// KeepFiringFor is how long the alert fires after its expression clears; 0
	// disables it.
	KeepFiringFor model.Duration `yaml:"keepFiringFor" help:"keep firing this long after the condition clears; 0s disables"`
}
