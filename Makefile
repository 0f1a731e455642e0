# One target for each thing people do here; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
MODULES := $(dir $(sort $(shell find . -name go.mod -not -path './.*/*' -not -path '*/node_modules/*')))
# The race detector needs a C compiler; everything else does not.
RACE := $(if $(shell command -v "$$(go env CC)"),-race)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## Three replicas on an embedded etcd, faults injected, alerts seen firing (about 3 minutes)
	@echo "building the demo (etcd, Prometheus and leader-observer from source: a few minutes the first time, seconds later)"
	@cd examples/quickstart && go build -v -o ../../bin/quickstart . 2>&1 | { n=0; while read -r line; do \
		case $$line in *[[:space:]:#]*) echo "$$line" ;; *) n=$$((n + 1)); [ $$((n % 100)) != 0 ] || echo "  $$n packages built" ;; esac; done; }
	@./bin/quickstart $(DEMO)

generate: ## Write dashboards, rules, and the generated parts of docs and README
	cd test && go run ./metricsdoc ../docs/metrics.md
	cd test && go run ./panelsdoc ../docs/panels.md
	cd test && go run ./costsdoc ../docs
	cd test && go run ./electorsdoc results ../docs/electors.md ../README.md
	go run ./cmd/gen-dashboards --out dashboards/generated --format grafana
	go run ./cmd/gen-dashboards --out alerts/generated --format prometheus,mixin
	cd examples/prometheus-dashboard && go run ../../cmd/gen-dashboards --out generated --config leaderscope.yaml --format grafana,prometheus,alertmanager

test: ## Run every module's tests, with the race detector where there is a C compiler; needs no server
	@[ -n "$(RACE)" ] || echo "no C compiler ($$(go env CC)): testing without the race detector"
	go test $(RACE) $(patsubst %,%...,$(filter-out ./test/,$(MODULES)))
	@# Never cached: these tests read files of other modules.
	cd test && go test $(RACE) -count=1 ./...

integration: integration-prometheus integration-backends integration-examples ## Everything that needs real servers: the next three

integration-prometheus: ## Real Prometheus and VictoriaMetrics servers evaluate the rules on the demo; their tools run the scenarios
	./scripts/integration

integration-examples: ## Each example keeps what it promises, under faults, on its own backend
	./scripts/integration-examples

integration-backends: ## Electors under faults on etcd, Redis, PostgreSQL, MariaDB, ZooKeeper, NATS, Kubernetes, DynamoDB
	./scripts/integration-backends

compat: ## Each module with the lowest and the newest versions of its libraries; a program elsewhere fetches each (about 15 minutes)
	./scripts/compat

lint: prose ## gofmt, go vet and staticcheck over every module, and the language of texts
	@unformatted=$$(gofmt -l $(MODULES)); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	@for m in $(MODULES); do echo "== $$m"; (cd $$m && go vet -tags integration ./... && go run $(STATICCHECK) -tags integration ./...); done

prose: ## Check the language of texts and comments (rules in .vale; needs a C compiler)
	@./scripts/prose

bench: ## Print what the recording path costs, as ratios of one run
	@cd test && go run ./bench

query-cost: ## Write docs/query-cost.md: panels on a real Prometheus, rules in its engine (needs prometheus; ten minutes)
	cd test && go run ./querycost -out ../docs/query-cost.md
	cd test && go run ./costsdoc ../docs

soak: ## Write docs/truth.md: leader_active on real servers under random faults, against a referee (two minutes for each elector; options in SOAK)
	cd test && go run ./soak -out soak/results $(SOAK)
	cd test && go run ./soak -out soak/results -page ../docs/truth.md
	cd test && go run ./electorsdoc results ../docs/electors.md ../README.md

soak-check: ## The same with all electors at once, and with faults in the product, which must be found (about five minutes)
	cd test && go run ./soak -parallel 6 -repeat 1
	cd test && go run ./soak -seeded -parallel 5 -repeat 1

alert-quality: ## Write docs/alert-quality.md: services simulated for weeks, the rules judged by what was true (half an hour)
	cd test && go run ./alertquality -published -out ../docs/alert-quality.md

alert-quality-check: ## A few simulated weeks: fail where the rules detect less, later or falsely than recorded (a minute)
	cd test && go run ./alertquality -check

mutation: ## Change the code in one place after another; tests must notice (about 20 minutes; options in MUTATION)
	@cd test && go build -o ../bin/mutation ./mutation
	@./bin/mutation $(MUTATION)

rule-mutation: ## Change each rule in one place after another; scenarios must notice (five minutes; MUTANT_ALERT=Flapping for one)
	cd alerts && go test -tags mutation -run Mutation -timeout 1h -v .

screenshots: ## Draw docs/images from the demo's data (about four minutes; needs prometheus and DRAW)
	./scripts/screenshots

.PHONY: help demo generate test prose soak soak-check compat integration integration-prometheus integration-backends integration-examples lint bench query-cost alert-quality alert-quality-check mutation rule-mutation screenshots
