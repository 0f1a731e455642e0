package dashboards

import "strings"

// provider is one entry of a dashboard provisioning file, in the order of
// Grafana's documentation.
type provider struct {
	Name                  string  `yaml:"name"`
	OrgID                 int     `yaml:"orgId"`
	Folder                string  `yaml:"folder"`
	Type                  string  `yaml:"type"`
	DisableDeletion       bool    `yaml:"disableDeletion"`
	UpdateIntervalSeconds int     `yaml:"updateIntervalSeconds"`
	AllowUIUpdates        bool    `yaml:"allowUiUpdates"`
	Options               options `yaml:"options"`
}

type options struct {
	Path string `yaml:"path"`
}

// Provisioning returns the YAML that makes Grafana load the dashboard files from
// cfg.Path. It belongs in the folder provisioning/dashboards of Grafana's
// configuration, usually /etc/grafana/provisioning/dashboards.
func Provisioning(cfg Config) ([]byte, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return asYAML("grafana", struct {
		APIVersion int        `yaml:"apiVersion"`
		Providers  []provider `yaml:"providers"`
	}{1, []provider{{
		Name: "leaderscope", OrgID: 1, Folder: literally(cfg.Folder), Type: "file",
		UpdateIntervalSeconds: 30,
		Options:               options{Path: literally(cfg.Path)},
	}}})
}

// literally writes a text where Grafana expands environment variables.
// Source: pkg/services/provisioning/values/values.go of Grafana.
func literally(text string) string { return strings.ReplaceAll(text, "$", "$$") }
