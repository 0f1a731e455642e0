package dashboards_test

import (
	"encoding/json"
	"fmt"

	"github.com/leaderscope/leaderscope/dashboards"
)

func ExampleOverview() {
	cfg := dashboards.Default()
	cfg.Scope.Labels = []string{"namespace", "lock_name"} // locks shared by jobs and clusters
	cfg.Scope.Holder = "pod"
	cfg.UID, cfg.Title = "orders-leaders", "Orders / Leaders"

	out, err := dashboards.Overview(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	var board struct{ UID, Title string }
	err = json.Unmarshal(out, &board)
	fmt.Println(board.UID, board.Title, err)
	// Output: orders-leaders Orders / Leaders <nil>
}
