package dynamolocklead

import (
	"context"
	"fmt"
	"io"
	"testing"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/leaderscope/leaderscope/instrument"
)

func TestClassification(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		want  instrument.Reason
		knows bool
	}{
		{"another holds the lock", &dynamolock.LockNotGrantedError{}, instrument.ContendedUnlessDone, true},
		{"the record was given back", dynamolock.ErrLockAlreadyReleased, instrument.SessionLost, true},
		{"the record is another's", dynamolock.ErrOwnerMismatched, instrument.SessionLost, true},
		{"the client was closed", dynamolock.ErrClientClosed, instrument.SessionLost, true},
		{"the record has another version", &types.ConditionalCheckFailedException{}, instrument.SessionLost, true},
		{"the table is short of capacity", &types.ProvisionedThroughputExceededException{}, instrument.BackendError, true},
		{"the account is short of capacity", &types.RequestLimitExceeded{}, instrument.BackendError, true},
		{"too many requests", &smithy.GenericAPIError{Code: "ThrottlingException"}, instrument.BackendError, true},
		{"the server failed", &types.InternalServerError{}, instrument.BackendError, true},
		{"the server does not answer", context.DeadlineExceeded, instrument.BackendError, true},
		{"a table that is not there", &types.ResourceNotFoundException{}, 0, false},
		{"a connection, which the core knows", io.ErrUnexpectedEOF, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, knows := (&locker{}).Classify(fmt.Errorf("wrapped: %w", c.err))
			if got != c.want || knows != c.knows {
				t.Errorf("got %v, %v", got, knows)
			}
		})
	}
}
