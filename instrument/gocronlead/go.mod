module github.com/leaderscope/leaderscope/instrument/gocronlead

go 1.26.0

require (
	github.com/go-co-op/gocron/v2 v2.19.0
	github.com/google/uuid v1.6.0
	github.com/leaderscope/leaderscope v0.1.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/google/go-cmp v0.6.0 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	go.opentelemetry.io/otel v1.24.0 // indirect
	go.opentelemetry.io/otel/trace v1.24.0 // indirect
)

replace github.com/leaderscope/leaderscope => ../..
