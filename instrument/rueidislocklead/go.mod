module github.com/leaderscope/leaderscope/instrument/rueidislocklead

go 1.26.0

require (
	github.com/alicebob/miniredis/v2 v2.30.5
	github.com/leaderscope/leaderscope v0.1.0
	github.com/redis/rueidis v1.0.71
	go.uber.org/goleak v1.3.0
)

require (
	github.com/alicebob/gopher-json v0.0.0-20200520072559-a9ecdc9d1d3a // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/yuin/gopher-lua v1.1.0 // indirect
	go.opentelemetry.io/otel v1.24.0 // indirect
	go.opentelemetry.io/otel/trace v1.24.0 // indirect
	golang.org/x/sys v0.39.0 // indirect
)

replace github.com/leaderscope/leaderscope => ../..
