.DEFAULT_GOAL := help

GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
WORKFLOWCHECK := go run go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X github.com/holdfast-ai/holdfast/internal/build.Version=$(VERSION)

# Packages without the engine. Building the Temporal server with the race detector
# would take longer than everything else. Nor those that only compute: they start no
# goroutines and share no state, so that nothing in them could race.
RACE := $(shell go list ./... | grep -v -e /internal/engine -e /internal/command -e /internal/node -e /internal/doctor -e '/worker$$' -e 'holdfast$$' \
	-e /chat/markdown -e /internal/approval -e /internal/domain -e /llm/price -e /llm/think -e /internal/prompt -e /internal/text -e /internal/transcript -e /packaging)

.PHONY: help
help: ## Show this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build ./holdfast, without C so that it runs anywhere
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o holdfast .

.PHONY: test
test: ## All tests
	go test -shuffle=on ./...

# SQLite is C in translation, which one goroutine runs at a time on each connection: the
# detector finds nothing in it and takes half of the time of the tests that use it. The
# scenarios of the chat platforms run whole workflows, against the clock.
.PHONY: race
race: ## Tests with the race detector, without the engine
	go test -race -gcflags=modernc.org/sqlite/lib=-race=false -shuffle=on -timeout 30m -skip '^TestScenarios' $(RACE)

# Third-party servers and clients. emulate and matrix-js-sdk need this version of node.
PEERS := @copilotkit/aimock@1.43.0 @slack/bolt@5.1.0 undici@7.30.2 emulate@0.12.2 node@22.23.3 \
	@tencent-weixin/openclaw-weixin@2.4.9 dingtalk-stream@2.1.5 axios@1.21.1 \
	discord.js@14.28.0 grammy@1.46.0 telegraf@4.16.3 telegram-test-api@4.2.1 \
	@modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31 \
	qq-official-bot@1.0.13 @larksuiteoapi/node-sdk@1.74.0 standardwebhooks@1.1.1 @kapso/whatsapp-cloud-api@0.3.0 \
	@mattermost/client@11.9.0 @mattermost/types@11.9.0 \
	matrix-js-sdk@43.0.0

# python3-python-telegram-bot of Debian, with what it needs.
PEERS_PYTHON := python-telegram-bot apscheduler cachetools certifi pkg-resources pytz-deprecation-shim six tornado tz tzlocal urllib3

.PHONY: peers
peers: ## Tests against third-party servers, installed into .peers by npm and apt
	npm install --prefix .peers --omit=peer --no-audit --no-fund --save-exact $(PEERS)
	mkdir -p .peers/twin && echo '{"overrides":{"spiceflow":"1.19.0"}}' > .peers/twin/package.json
	npm install --prefix .peers/twin --no-audit --no-fund --save-exact discord-digital-twin@0.1.1
	cd .peers && apt-get download -qq $(addprefix python3-,$(PEERS_PYTHON)) && for p in *.deb; do dpkg-deb -x $$p .; done
	HOLDFAST_PEERS=$(CURDIR)/.peers go test -tags peers -run '^Test(Aimock|Bolt|Emulate|Peer)' -count=1 \
		./internal/command ./channels/slack ./channels/slack/slacktest ./channels/discord ./channels/discord/discordtest ./channels/telegram ./channels/telegram/telegramtest ./channels/mattermost/mattermosttest ./channels/wechat/wechattest ./channels/dingtalk/dingtalktest ./channels/qq/qqtest ./channels/whatsapp/whatsapptest ./channels/matrix ./channels/feishu/feishutest ./channels/email ./channels/webhook ./internal/tool/mcp

.PHONY: bench
bench: ## Latency and throughput, compared with the bare engine
	go test -run '^$$' -bench '^BenchmarkMessage' -benchtime 1x -timeout 30m -v ./internal/command

.PHONY: bench-large
bench-large: ## A store with 400,000 turns, compared with an empty one
	go test -run '^$$' -bench '^BenchmarkLarge' -benchtime 1x -timeout 30m -v ./internal/command

FAULTS ?= 250
SEED ?= 0
STOP ?= 40s

.PHONY: chaos
chaos: ## Random faults under load, on one machine and on a cluster, and a rollout: FAULTS each, SEED, STOP
	go test -run '^Test(Chaos|Rollout)$$' -count=1 -timeout 6h -v ./internal/command \
		-chaos.faults $(FAULTS) -chaos.seed $(SEED) -chaos.stop $(STOP)

.PHONY: lint
lint: ## golangci-lint and workflowcheck
	$(GOLANGCI) run
	$(WORKFLOWCHECK) ./workflows/...

.PHONY: fmt
fmt: ## Format the code
	$(GOLANGCI) fmt

.PHONY: tidy
tidy: ## Fail if go.mod is not tidy
	go mod tidy -diff

.PHONY: check
check: tidy test race lint ## What CI runs

.PHONY: up
up: ## Temporal, Postgres, worker and starter in containers
	docker compose up --build --detach

.PHONY: down
down: ## Stop the containers
	docker compose down
