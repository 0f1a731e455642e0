package release

// What the programs around the lines of README.md import: go mod tidy does not
// look into testdata.
import (
	_ "github.com/leaderscope/leaderscope/instrument/consullock"
	_ "github.com/leaderscope/leaderscope/instrument/ctrllease"
	_ "github.com/leaderscope/leaderscope/instrument/dynamolocklead"
	_ "github.com/leaderscope/leaderscope/instrument/etcdlock"
	_ "github.com/leaderscope/leaderscope/instrument/gocronlead"
	_ "github.com/leaderscope/leaderscope/instrument/k8slease"
	_ "github.com/leaderscope/leaderscope/instrument/natskv"
	_ "github.com/leaderscope/leaderscope/instrument/pglocklead"
	_ "github.com/leaderscope/leaderscope/instrument/raftlead"
	_ "github.com/leaderscope/leaderscope/instrument/redislocklead"
	_ "github.com/leaderscope/leaderscope/instrument/redsynclead"
	_ "github.com/leaderscope/leaderscope/instrument/riverlead"
	_ "github.com/leaderscope/leaderscope/instrument/rueidislocklead"
	_ "github.com/leaderscope/leaderscope/instrument/zklock"
)
