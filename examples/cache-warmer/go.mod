module github.com/leaderscope/leaderscope/examples/cache-warmer

go 1.26.7

replace (
	github.com/leaderscope/leaderscope => ../..
	github.com/leaderscope/leaderscope/examples/internal => ../internal
)

require (
	github.com/bsm/redislock v0.9.4
	github.com/google/go-cmp v0.7.0
	github.com/leaderscope/leaderscope v0.0.0
	github.com/leaderscope/leaderscope/examples/internal v0.0.0
	github.com/prometheus/client_golang v1.25.0
	github.com/redis/go-redis/v9 v9.23.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.1 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
