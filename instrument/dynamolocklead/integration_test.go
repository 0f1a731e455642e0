//go:build integration

package dynamolocklead_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// realLease is long enough for a loaded machine.
const (
	realLease = 3 * time.Second
	realTable = "locks"
)

// server is a DynamoDB, such as LEADERSCOPE_DYNAMODB=http://127.0.0.1:4567.
func server(t *testing.T) string {
	t.Helper()
	address := os.Getenv("LEADERSCOPE_DYNAMODB")
	if address == "" {
		t.Fatal("LEADERSCOPE_DYNAMODB is not set; it names a DynamoDB, such as http://127.0.0.1:4567")
	}
	return address
}

func api(address string, transport http.RoundTripper) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: aws.String(address), Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		HTTPClient: &http.Client{Transport: transport},
	})
}

// A client that gives up in the middle of a request harms no other one.
func TestTheServerOutlivesARequestThatIsGivenUp(t *testing.T) {
	address, transport := server(t), &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	for range 3 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Write([]byte("POST / HTTP/1.1\r\nHost: a\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\nContent-Length: 100\r\n\r\n{"))
		if err := errors.Join(err, conn.(*net.TCPConn).SetLinger(0), conn.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := api(address, transport).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Fatal(err)
		}
	}
}

func realClient(t testing.TB, db *dynamodb.Client) *dynamolock.Client {
	t.Helper()
	c, err := dynamolock.New(db, realTable, dynamolock.WithLeaseDuration(realLease), dynamolock.DisableHeartbeat(),
		dynamolock.WithOwnerName(t.Name()+strconv.FormatInt(time.Now().UnixNano(), 36)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func createTable(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	_, err := realClient(t, db).CreateTable(realTable, dynamolock.WithProvisionedThroughput(&types.ProvisionedThroughput{
		ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(5),
	}))
	if _, there := errors.AsType[*types.ResourceInUseException](err); err != nil && !there {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(realTable)})
		if err == nil && out.Table.TableStatus == types.TableStatusActive {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the table is not active: %v", err)
		}
	}
}

func TestConformanceOnAServer(t *testing.T) {
	db := api(server(t), http.DefaultTransport)
	createTable(t, db)
	for style, suite := range map[string]electtest.Suite{
		"waiting": {Waits: true, New: func(t testing.TB, lock string) instrument.Acquirer {
			return dynamolocklead.NewLock(realClient(t, db), lock, realLease)
		}},
		"answering at once": {New: func(t testing.TB, lock string) instrument.Acquirer {
			return dynamolocklead.NewTryLock(realClient(t, db), lock, realLease)
		}},
	} {
		suite.Lease, suite.RenewsItself, suite.RenewsOnDemand = realLease, true, true
		suite.Lose = func(t testing.TB, lock string) {
			_, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: aws.String(realTable), Key: map[string]types.AttributeValue{"key": text(lock)},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
}

// gate keeps answers back while it is closed.
type gate struct {
	next   http.RoundTripper
	closed chan chan struct{}
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	select {
	case until := <-g.closed:
		g.closed <- until
		select {
		case <-until:
		case <-r.Context().Done():
			if err == nil {
				resp.Body.Close()
			}
			return nil, r.Context().Err()
		}
	default:
	}
	return resp, err
}

func TestASilentServer(t *testing.T) {
	transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	g := &gate{next: transport, closed: make(chan chan struct{}, 1)}
	db := api(server(t), g)
	createTable(t, db)
	client := realClient(t, db)
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	e := m.Election("lock")
	read := func() electtest.Series { return electtest.Read(m, "lock") }
	of := electtest.Of
	name := strings.ReplaceAll(t.Name(), "/", "-") + strconv.FormatInt(time.Now().UnixNano(), 36)

	term, err := e.Acquire(t.Context(), dynamolocklead.NewLock(client, name, realLease))
	if err != nil {
		t.Fatal(err)
	}
	until := make(chan struct{})
	g.closed <- until
	asked := time.Now()
	select {
	case <-term.Context().Done():
	case <-time.After(2 * realLease):
		t.Fatal("the term goes on without an answer for two leases")
	}
	r := read()
	if after := time.Since(asked); after > realLease || r[of(catalog.TermsEnded, catalog.GaveUp.String())] != 1 ||
		r[of(catalog.Renewals, catalog.RenewalTimeout.String())] != 1 || r[of(catalog.Renewals, catalog.RenewalLost.String())] != 0 {
		t.Errorf("after %v: %v", after, r)
	}
	short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	asked = time.Now()
	if err := term.Release(short); err == nil || time.Since(asked) > realLease {
		t.Errorf("release after %v: %v", time.Since(asked), err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	asked = time.Now()
	if _, err := e.Acquire(soon, dynamolocklead.NewTryLock(client, name+"-tried", realLease)); !errors.Is(err, context.DeadlineExceeded) || time.Since(asked) > realLease {
		t.Errorf("an attempt after %v: %v", time.Since(asked), err)
	}
	if r := read(); r[of(catalog.NotAcquired, catalog.TimedOut.String())] != 1 {
		t.Errorf("%v", r)
	}
	<-g.closed
	close(until)
	next, err := e.Acquire(t.Context(), dynamolocklead.NewLock(client, name, realLease))
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheLibrarysTrapsAreThere(t *testing.T) {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	db := api(server(t), transport)
	createTable(t, db)
	name := t.Name() + strconv.FormatInt(time.Now().UnixNano(), 36)
	client := realClient(t, db)
	holder, err := client.AcquireLock(name)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(realLease + time.Second)
	if !holder.IsExpired() {
		t.Error("the lease is not over")
	}
	if _, err := realClient(t, db).AcquireLock(name, dynamolock.FailIfLocked()); !isRefused(err) {
		t.Errorf("a try on a record whose lease is over: %v: tries need not watch any more", err)
	}
	next, err := realClient(t, db).AcquireLock(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(realTable), Key: map[string]types.AttributeValue{"key": text(name)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a heartbeat with retries of a record that is gone does not panic any more: the adapter need not look for that")
		}
	}()
	_ = client.SendHeartbeat(next, dynamolock.HeartbeatRetries(1, 0))
}
