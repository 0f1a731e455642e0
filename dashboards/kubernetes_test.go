package dashboards

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboardv2"
	"go.yaml.in/yaml/v3"
)

func TestConfigMapsAndOperatorCarryTheDashboards(t *testing.T) {
	cfg := Default()
	o := Object{Name: "leaders", Namespace: "monitoring", Labels: map[string]string{"team": "a"}}
	maps, err := ConfigMaps(cfg, o, DefaultSidecar())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := GrafanaDashboards(cfg, o, DefaultOperator())
	if err != nil {
		t.Fatal(err)
	}
	boards, err := All(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range boards {
		var m, g manifest
		var text struct{ JSON string }
		for _, doc := range []struct {
			data []byte
			into any
		}{{maps[i].Data, &m}, {objects[i].Data, &g}, {objects[i].Data, &struct{ Spec any }{&text}}} {
			if err := yaml.Unmarshal(doc.data, doc.into); err != nil {
				t.Fatal(err)
			}
		}
		want := Object{Name: "leaders-" + b.Name, Namespace: "monitoring",
			Labels: map[string]string{"team": "a", "grafana_dashboard": "1"}, Annotations: map[string]string{"grafana_folder": cfg.Folder}}
		if diff := cmp.Diff(want, m.Metadata); diff != "" {
			t.Errorf("ConfigMap (-want +got):\n%s", diff)
		}
		if got := m.Data.(map[string]any)["leaders-"+b.Name+".json"]; got != string(b.Data) {
			t.Errorf("ConfigMap %s has another dashboard", b.Name)
		}
		if got := g.Spec.(map[string]any)["instanceSelector"]; !cmp.Equal(got, map[string]any{"matchLabels": map[string]any{"dashboards": "grafana"}}) {
			t.Errorf("GrafanaDashboard %s selects %v", b.Name, got)
		}
		if got := g.Spec.(map[string]any)["json"]; got != string(b.Data) {
			t.Errorf("GrafanaDashboard %s has another dashboard", b.Name)
		}
	}
}

func TestAnObjectThatTheServerRefusesIsRefused(t *testing.T) {
	if _, err := ConfigMaps(Default(), Object{Name: "A"}, DefaultSidecar()); err == nil {
		t.Error("ConfigMaps takes a bad name")
	}
	if _, err := GrafanaDashboards(Default(), Object{Name: "A"}, DefaultOperator()); err == nil {
		t.Error("GrafanaDashboards takes a bad name")
	}
}

// The resource is the dashboard, but for its uid, which is its name.
func TestManifestsAreTheDashboards(t *testing.T) {
	manifests, err := Manifests(Default())
	if err != nil {
		t.Fatal(err)
	}
	boards, err := All(Default())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range manifests {
		var got struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
			Spec             map[string]any
		}
		var want map[string]any
		for data, into := range map[string]any{string(m.Data): &got, string(boards[i].Data): &want} {
			if err := json.Unmarshal([]byte(data), into); err != nil {
				t.Fatal(err)
			}
		}
		if got.APIVersion != "dashboard.grafana.app/v1beta1" || got.Kind != "Dashboard" || got.Metadata.Name != want["uid"] {
			t.Errorf("%+v", got.Metadata)
		}
		delete(want, "uid")
		if diff := cmp.Diff(want, got.Spec); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestSchemaV2PassesTheStrictReader(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	for title, change := range configurations {
		t.Run(title, func(t *testing.T) {
			cfg := Default()
			change(&cfg)
			manifests, err := ManifestsV2(cfg)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range manifests {
				var raw struct{ Spec json.RawMessage }
				if err := json.Unmarshal(m.Data, &raw); err != nil {
					t.Fatal(err)
				}
				var strict, d dashboardv2.Dashboard
				var problems cog.BuildErrors
				if errors.As(strict.UnmarshalJSONStrict(raw.Spec), &problems); len(problems) > 0 {
					t.Errorf("%s, strict reading: %v", m.Name, problems)
				}
				if err := json.Unmarshal(raw.Spec, &d); err != nil {
					t.Fatal(err)
				}
				if err := d.Validate(); err != nil {
					t.Errorf("%s: %v", m.Name, err)
				}
			}
		})
	}
}

// Every panel is placed once, with the queries that it has in the classic
// schema.
func TestSchemaV2HasEveryPanelAndQuery(t *testing.T) {
	manifests, err := ManifestsV2(Default())
	if err != nil {
		t.Fatal(err)
	}
	boards, err := All(Default())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range manifests {
		var want, got []string
		for _, p := range decoded(t, boards[i].Data).Panels {
			for _, target := range p.Targets {
				want = append(want, p.Title+" / "+target.RefID+" / "+target.Expr)
			}
		}
		var d struct {
			Spec struct {
				Elements map[string]struct {
					Spec struct {
						Title string
						Data  struct {
							Spec struct {
								Queries []struct {
									Spec struct {
										RefID string
										Query struct{ Spec struct{ Expr string } }
									}
								}
							}
						}
					}
				}
				Layout struct {
					Spec struct {
						Rows []struct {
							Spec struct {
								Layout struct {
									Spec struct {
										Items []struct {
											Spec struct{ Element struct{ Name string } }
										}
									}
								}
							}
						}
					}
				}
			}
		}
		if err := json.Unmarshal(m.Data, &d); err != nil {
			t.Fatal(err)
		}
		for _, row := range d.Spec.Layout.Spec.Rows {
			for _, item := range row.Spec.Layout.Spec.Items {
				e := d.Spec.Elements[item.Spec.Element.Name].Spec
				for _, query := range e.Data.Spec.Queries {
					got = append(got, e.Title+" / "+query.Spec.RefID+" / "+query.Spec.Query.Spec.Expr)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-classic +v2):\n%s", m.Name, diff)
		}
	}
}
