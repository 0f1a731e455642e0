package catalog_test

import (
	"fmt"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func ExampleByName() {
	metric, ok := catalog.ByName("leader_acquired_total")
	fmt.Println(ok, metric.Kind(), metric.OTel())
	// Output: true Counter leader.acquired
}
