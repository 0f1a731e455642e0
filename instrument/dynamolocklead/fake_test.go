package dynamolocklead_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
)

// table is a DynamoDB table in memory. It knows the conditions and updates
// that the library sends.
type table struct {
	mu     sync.Mutex
	rows   map[string]item
	err    error             // of every request
	silent chan struct{}     // until it is closed no request is answered
	late   time.Duration     // of every answer
	lost   int               // so many writes are done, and their answers lost
	sent   int               // requests
	limits []context.Context // of the requests that have a limit
}

type item struct {
	attributes map[string]types.AttributeValue
	written    time.Time
}

// checkLimits expects that the limits of all requests ended with their answers.
func (x *table) checkLimits(t *testing.T, atLeast int) {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, limit := range x.limits {
		if limit.Err() != context.Canceled {
			t.Errorf("the limit of request %d: %v", i, limit.Err())
		}
	}
	if len(x.limits) < atLeast {
		t.Errorf("%d requests have a limit, want %d", len(x.limits), atLeast)
	}
}

func newTable() *table { return &table{rows: map[string]item{}} }

func (x *table) client(t testing.TB, opts ...dynamolock.ClientOption) *dynamolock.Client {
	t.Helper()
	opts = append([]dynamolock.ClientOption{dynamolock.WithLeaseDuration(lease), dynamolock.DisableHeartbeat()}, opts...)
	c, err := dynamolock.New(x, "locks", opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (x *table) lock(t testing.TB, key string) instrument.Acquirer {
	return dynamolocklead.NewLock(x.client(t), key, lease)
}

// tryLock is for a virtual clock: the test ends when what its tries have won
// too late is released.
func (x *table) tryLock(t testing.TB, key string) instrument.Acquirer {
	t.Cleanup(func() { time.Sleep(lease) })
	return dynamolocklead.NewTryLock(x.client(t), key, lease)
}

// change does something to the table behind the clients' backs.
func (x *table) change(f func(x *table)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f(x)
}

// steal gives a lock to another client.
func (x *table) steal(key string) {
	x.change(func(x *table) {
		x.rows[key] = item{map[string]types.AttributeValue{
			"key": text(key), "ownerName": text("another"), "leaseDuration": text(lease.String()),
			"recordVersionNumber": text(fmt.Sprint(time.Now().UnixNano(), "-another")),
		}, time.Now()}
	})
}

func (x *table) remove(key string) { x.change(func(x *table) { delete(x.rows, key) }) }

// fail has every request fail until it is called with nil.
func (x *table) fail(err error) { x.change(func(x *table) { x.err = err }) }

// mute has no request be answered until the returned function is called.
func (x *table) mute() (speak func()) {
	silent := make(chan struct{})
	x.change(func(x *table) { x.silent = silent })
	return func() {
		x.change(func(x *table) { x.silent = nil })
		close(silent)
	}
}

// remaining is what is left of a lease, and whether the lock is held.
func (x *table) remaining(key string) (timeLeft time.Duration, held bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	row, there := x.rows[key]
	if _, released := row.attributes["isReleased"]; !there || released {
		return 0, false
	}
	timeLeft = time.Until(row.written.Add(lease))
	return timeLeft, timeLeft > 0
}

func text(s string) *types.AttributeValueMemberS { return &types.AttributeValueMemberS{Value: s} }

func keyOf(key map[string]types.AttributeValue) string {
	return key["key"].(*types.AttributeValueMemberS).Value
}

func (x *table) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out := &dynamodb.GetItemOutput{}
	return out, x.serve(ctx, false, func() error {
		if row, there := x.rows[keyOf(in.Key)]; there {
			out.Item = map[string]types.AttributeValue{}
			for k, v := range row.attributes {
				out.Item[k] = v
			}
		}
		return nil
	})
}

func (x *table) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return &dynamodb.PutItemOutput{}, x.serve(ctx, true, func() error {
		key := keyOf(in.Item)
		if err := x.check(key, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
			return err
		}
		x.rows[key] = item{in.Item, time.Now()}
		return nil
	})
}

func (x *table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{}, x.serve(ctx, true, func() error {
		key := keyOf(in.Key)
		if err := x.check(key, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
			return err
		}
		row := x.rows[key]
		for _, set := range strings.Split(strings.TrimPrefix(strings.TrimSpace(*in.UpdateExpression), "SET "), ", ") {
			name, value, _ := strings.Cut(set, " = ")
			row.attributes[in.ExpressionAttributeNames[name]] = in.ExpressionAttributeValues[value]
		}
		row.written = time.Now()
		x.rows[key] = row
		return nil
	})
}

func (x *table) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return &dynamodb.DeleteItemOutput{}, x.serve(ctx, true, func() error {
		key := keyOf(in.Key)
		if err := x.check(key, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
			return err
		}
		delete(x.rows, key)
		return nil
	})
}

func (*table) CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	return &dynamodb.CreateTableOutput{}, nil
}

// serve answers one request. It is executed even if the caller has left.
func (x *table) serve(ctx context.Context, writes bool, do func() error) error {
	_ = ctx.Err() // a nil context panics, as in the SDK
	x.mu.Lock()
	x.sent++
	if _, limited := ctx.Deadline(); limited {
		x.limits = append(x.limits, ctx)
	}
	silent, failed, late := x.silent, x.err, x.late
	lost := writes && x.lost > 0
	if lost {
		x.lost--
	}
	x.mu.Unlock()
	if silent != nil {
		select {
		case <-silent:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if failed != nil {
		return failed
	}
	answers := make(chan error, 1)
	work := func() {
		time.Sleep(late / 2)
		x.mu.Lock()
		err := do()
		x.mu.Unlock()
		time.Sleep(late / 2)
		answers <- err
	}
	if late == 0 {
		work()
	} else {
		go work()
	}
	select {
	case err := <-answers:
		if lost && err == nil {
			err = errReset
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// check evaluates a condition on the row of that key.
func (x *table) check(key string, condition *string, names map[string]string, values map[string]types.AttributeValue) error {
	c := &conditions{x.rows[key].attributes, names, values, strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(*condition))}
	if !c.either() {
		return &types.ConditionalCheckFailedException{}
	}
	return nil
}

// conditions are what is left of a condition.
type conditions struct {
	row    map[string]types.AttributeValue
	names  map[string]string
	values map[string]types.AttributeValue
	words  []string
}

func (c *conditions) next() string {
	word := c.words[0]
	c.words = c.words[1:]
	return word
}

func (c *conditions) follows(word string) bool {
	if len(c.words) == 0 || c.words[0] != word {
		return false
	}
	c.next()
	return true
}

func (c *conditions) either() bool {
	is := c.all()
	for c.follows("OR") {
		is = c.all() || is
	}
	return is
}

func (c *conditions) all() bool {
	is := c.one()
	for c.follows("AND") {
		is = c.one() && is
	}
	return is
}

func (c *conditions) one() (is bool) {
	switch word := c.next(); word {
	case "(":
		is = c.either()
		c.next()
	case "attribute_exists", "attribute_not_exists":
		c.next()
		_, there := c.row[c.names[c.next()]]
		c.next()
		is = there == (word == "attribute_exists")
	default:
		if equals := c.next(); equals != "=" {
			panic("unknown operator " + equals)
		}
		value, there := c.row[c.names[word]]
		is = there && reflect.DeepEqual(value, c.values[c.next()])
		if !there {
			c.next()
		}
	}
	return is
}
