//go:build unix

package stagetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatDiffersFromRunToRunIsTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"numbers in columns":   {"cache/0        2         2        15\ncache/1   3 1 7\n", []string{"cache/0 # # #", "cache/1 # # #"}},
		"an empty cell":        {"node-2    0    -\nnode-1  1   0\n", []string{"<node> # #"}},
		"durations":            {"takes 1.5s, or 250ms, after 0.4 s.\n", []string{"takes #, or #, after # s."}},
		"addresses":            {"node-1  started, http://127.0.0.1:38369/metrics\n", []string{"<node> started, http://<address>/metrics"}},
		"labels":               {"acme  k1:616d77770a85acdd  19\n", []string{"acme <label> #"}},
		"numbers in brackets":  {"leader_work 0.4438 (0.4438)  -0.01 (1e-05)\n", []string{"leader_work # (#) # (#)"}},
		"words with digits":    {"0001-cents is applied by instance-a\nleader_x{result=\"stale\"}\n", []string{"0001-cents is applied by <instance>", `leader_x{result="stale"}`}},
		"order and repetition": {"b\na\n\nb\n", []string{"a", "b"}},
		"another word":         {"node-1 leads\nnode-1 waits\n", []string{"<node> leads", "<node> waits"}},
	} {
		if diff := cmp.Diff(c.want, shapes(c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheLastBlockOfAPageIsItsOutput(t *testing.T) {
	for page, want := range map[string]string{
		"# Title\n```\ngo run .\n```\ntext\n```\nout\nput\n```\nend\n": "out\nput",
		"```text\none\n```\n": "one",
		"no block\n":          "",
		"```\nnot closed\n":   "",
	} {
		if got := lastBlock(page); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}
