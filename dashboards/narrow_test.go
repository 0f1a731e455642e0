package dashboards

import (
	"encoding/json"
	"testing"

	"github.com/leaderscope/leaderscope/internal/panel"
)

// On a screen of 480 pixels, a table has 448: severity, lock and alert are read without
// scrolling.
func TestANarrowScreenShowsWhichAlertFiresForWhichLock(t *testing.T) {
	raw, err := json.Marshal(decoded(t, overview(t)).panel(panel.Alerts).raw)
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		FieldConfig struct {
			Overrides []struct {
				Matcher    struct{ Options any }
				Properties []struct {
					ID    string
					Value any
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	widths := map[any]float64{}
	for _, o := range table.FieldConfig.Overrides {
		for _, p := range o.Properties {
			if p.ID == "custom.width" || p.ID == "custom.minWidth" {
				widths[o.Matcher.Options] = p.Value.(float64)
			}
		}
	}
	severity, lock, alert := widths["Severity"], widths["Lock"], widths["Alert"]
	if severity == 0 || lock == 0 || alert == 0 || severity+lock+alert > 440 {
		t.Errorf("severity, lock and alert are %v, %v and %v pixels wide", severity, lock, alert)
	}
}
