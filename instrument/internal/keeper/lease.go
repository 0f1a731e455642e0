package keeper

import (
	"fmt"
	"reflect"
	"time"
)

// CheckLease reports arguments with which an adapter of cirello.io's pglock or
// dynamolock cannot work: no client, or a lease that is not the client's.
func CheckLease[Client any](library string, client *Client, lease time.Duration) error {
	switch {
	case client == nil:
		return fmt.Errorf("leaderscope: %s: the client is nil", library)
	case lease <= 0:
		return fmt.Errorf("leaderscope: %s: lease is %v, want that of %[1]s.WithLeaseDuration", library, lease)
	}
	if own := leaseOf(client); own != 0 && own != lease {
		return fmt.Errorf("leaderscope: %s: lease is %v and the client's %v; give both the same by %[1]s.WithLeaseDuration", library, lease, own)
	}
	return nil
}

// leaseOf is the length that the client was made with, which it does not tell; 0
// if a version keeps it elsewhere. A lease end that is computed from another
// length is wrong, and nothing else would show that.
func leaseOf[Client any](client *Client) time.Duration {
	f := reflect.ValueOf(client).Elem().FieldByName("leaseDuration")
	if !f.IsValid() || f.Type() != reflect.TypeFor[time.Duration]() {
		return 0
	}
	return time.Duration(f.Int())
}
