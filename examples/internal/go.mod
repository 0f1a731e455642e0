module github.com/leaderscope/leaderscope/examples/internal

go 1.26.7

require github.com/prometheus/common v0.72.1

require (
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/leaderscope/leaderscope => ../..

require github.com/leaderscope/leaderscope v0.0.0
