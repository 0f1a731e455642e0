module github.com/leaderscope/leaderscope/instrument/pglocklead

go 1.26.0

require (
	cirello.io/pglock v1.16.1
	github.com/jackc/pgx/v5 v5.7.5
	github.com/leaderscope/leaderscope v0.1.0
	github.com/lib/pq v1.10.9
	go.uber.org/goleak v1.3.0
)

require (
	github.com/google/go-cmp v0.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.2 // indirect
	go.opentelemetry.io/otel v1.24.0 // indirect
	go.opentelemetry.io/otel/trace v1.24.0 // indirect
	golang.org/x/crypto v0.38.0 // indirect
	golang.org/x/sync v0.14.0 // indirect
	golang.org/x/text v0.25.0 // indirect
)

replace github.com/leaderscope/leaderscope => ../..
