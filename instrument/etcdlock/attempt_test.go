package etcdlock

import (
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/leaderscope/leaderscope/instrument"
)

// A waiting campaign continues after errors that another request need not meet.
func TestAWaitingCampaignContinuesAfterWhatPasses(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a compaction":                      {rpctypes.ErrCompacted, true},
		"a member without a leader":         {rpctypes.ErrNoLeader, true},
		"the same, wrapped":                 {fmt.Errorf("campaign: %w", rpctypes.ErrNoLeader), true},
		"a server that does not answer":     {status.Error(codes.Unavailable, "connection refused"), true},
		"a server that is too slow":         {status.Error(codes.DeadlineExceeded, "too slow"), true},
		"a watch that was lost":             {errors.New("lost watcher waiting for delete"), true},
		"a user without the right":          {rpctypes.ErrPermissionDenied, false},
		"the same, of gRPC":                 {status.Error(codes.PermissionDenied, "no"), false},
		"a lease that is gone":              {rpctypes.ErrLeaseNotFound, false},
		"a lock that is taken":              {concurrency.ErrLocked, false},
		"a session that has ended":          {concurrency.ErrSessionExpired, false},
		"the same, of the adapter, wrapped": {fmt.Errorf("etcdlock: %w", instrument.ErrSessionLost), false},
		"an election without a leader":      {concurrency.ErrElectionNotLeader, false},
	} {
		if got := passing(c.err); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
