module github.com/leaderscope/leaderscope/instrument/redislocklead

go 1.26.0

require (
	github.com/alicebob/miniredis/v2 v2.36.0
	github.com/bsm/redislock v0.9.4
	github.com/google/go-cmp v0.7.0
	github.com/leaderscope/leaderscope v0.1.0
	github.com/redis/go-redis/v9 v9.0.3
	go.uber.org/goleak v1.3.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.opentelemetry.io/otel v1.24.0 // indirect
	go.opentelemetry.io/otel/trace v1.24.0 // indirect
)

replace github.com/leaderscope/leaderscope => ../..
