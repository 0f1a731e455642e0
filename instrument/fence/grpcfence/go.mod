module github.com/leaderscope/leaderscope/instrument/fence/grpcfence

go 1.26.0

require (
	github.com/google/go-cmp v0.6.0
	github.com/leaderscope/leaderscope v0.1.0
	go.uber.org/goleak v1.3.0
	google.golang.org/grpc v1.63.2
	google.golang.org/protobuf v1.34.2
)

require (
	go.opentelemetry.io/otel v1.24.0 // indirect
	go.opentelemetry.io/otel/trace v1.24.0 // indirect
	golang.org/x/net v0.21.0 // indirect
	golang.org/x/sys v0.22.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20240227224415-6ceb2ff114de // indirect
)

replace github.com/leaderscope/leaderscope => ../../..
