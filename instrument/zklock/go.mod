module github.com/leaderscope/leaderscope/instrument/zklock

go 1.26.0

require (
	github.com/go-zookeeper/zk v1.0.2
	github.com/leaderscope/leaderscope v0.1.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/google/go-cmp v0.6.0 // indirect
	go.opentelemetry.io/otel v1.24.0 // indirect
	go.opentelemetry.io/otel/trace v1.24.0 // indirect
)

replace github.com/leaderscope/leaderscope => ../..
