# Everything a developer does here. `make help` lists it.

TOOL := go tool -modfile=$(CURDIR)/go.tools.mod
CLUSTER := $(CURDIR)/bin/cluster
LOCAL := $(CURDIR)/bin/local
KUBE ?= 1.37
# One setting for programs and tests, so that nothing is compiled twice.
export CGO_ENABLED ?= 0
GO_MODULES := . e2e e2e/certmanager e2e/cluster e2e/rules site
# End-to-end specs wait more than they work: so many run side by side.
E2E_PROCS ?= 3
# Images: one for each program, for every platform.
PROGRAMS := lws-manager disaggregatedset-manager
PLATFORMS ?= linux/amd64 linux/arm64 linux/s390x linux/ppc64le
REGISTRY ?= localhost
SEED ?= 1
# Suites that wait more than they work, and measure nothing, run side by side.
# Workload-aware scheduling is served by the newest Kubernetes only.
SIDE_BY_SIDE := $(if $(filter 1.37,$(KUBE)),suite-scheduling) suite-packaging
# How often what fails is run. What passes in a second attempt is flaky, which is broken,
# and is reported as FLAKED; CI allows it rather than throw away all that passed.
ATTEMPTS ?= 1
GINKGO := go tool ginkgo --no-color --flake-attempts=$(ATTEMPTS) --timeout=45m
attempt = left=$(ATTEMPTS); until ( $(1) ); do left=$$((left-1)); [ $$left -gt 0 ] || exit 1; \
  echo "FLAKED, if it passes now: run once more"; done
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
# Without the traces of gRPC the linker leaves out every method that nobody calls, a fifth
# of the programs. Dockerfile and e2e/managers build with the same tag.
TAGS := grpcnotrace
INTEGRATION := $(shell git grep -l '^//go:build integration' -- 'apis/*_test.go' 'cmd/*_test.go' 'controllers/*_test.go' | xargs -r dirname | sort -u | sed 's|^|./|')

.DEFAULT_GOAL := help
.PHONY: help up down env earlier helm generate manifests fmt lint unit integration e2e test verify build bench cluster local \
	programs image sbom soak
.PHONY: site site-serve site-blocks site-walkthroughs site-browser site-check hugo

help: ## Show this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: local ## Start a cluster on this machine with the managers and samples, Available
	@$(LOCAL) up --kube $(KUBE)

down: local ## Stop all that `make up` started
	@$(LOCAL) down

env: local ## Print the line that gives a shell kubectl and the cluster of `make up`
	@$(LOCAL) env

earlier: local ## Put into the cluster of `make up` what releases v0.8 to v0.10 leave, without managers
	@$(LOCAL) earlier

helm: bin/helm ## Build the pinned Helm into bin/

bin/helm: e2e/helm/go.mod
	@cd e2e/helm && go build -o $(CURDIR)/bin/helm helm.sh/helm/v3/cmd/helm

build: ## Build the programs into bin/
	go build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

generate: ## Regenerate code, CustomResourceDefinitions and the site's reference
	go generate ./apis
	cd site && go run ./reference ..

manifests: ## Regenerate roles and webhooks from the markers beside the code, charts from config/
	go generate ./cmd/...
	cd e2e && go run ./packaging/chartgen

fmt: ## Format the code
	@for m in $(GO_MODULES); do (cd $$m && $(TOOL) golangci-lint-kube-api-linter fmt ./...) || exit; done

lint: ## Lint every module
	@for m in $(GO_MODULES); do (cd $$m && echo "lint $$m" && $(TOOL) golangci-lint-kube-api-linter run ./...) || exit; done

unit: ## Test what is pure, in under a minute
	@$(call attempt,go test ./...)

integration: cluster ## Test against a real kube-apiserver
	@export KUBEBUILDER_ASSETS="$$($(CLUSTER) assets --kube $(KUBE))"; $(call attempt,go test -p 2 -tags integration $(INTEGRATION))

# -count=1: Go does not see that files outside of a module have changed, and these read config/.
e2e: export KUBE := $(KUBE)
e2e: cluster ## Test against a local cluster; KUBE=1.34 for another version
	$(CLUSTER) build --kube $(KUBE)
	@$(call attempt,cd e2e/cluster && go test -p 1 ./...)
	@$(call attempt,cd e2e/rules && go test -count=1 ./...)
	@$(call attempt,cd e2e && go test -count=1 -p 1 $$(cd $(CURDIR)/e2e && go list ./... | grep -v -E '/(scheduling|packaging|disaggregatedset|leaderworkerset)$$'))
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(SIDE_BY_SIDE)
	@$(MAKE) --no-print-directory suite-disaggregatedset
	@$(call attempt,cd e2e && $(GINKGO) -procs=$(E2E_PROCS) ./leaderworkerset)

suite-%:
	@$(call attempt,cd e2e && $(GINKGO) ./$*)

test: unit integration e2e ## All tests, the fast ones first

verify: ## Regenerate everything, vet and lint; fail on any difference
	@$(MAKE) --no-print-directory generate manifests fmt
	@git diff --exit-code --stat || { echo "verify: commit what 'make generate manifests fmt' changes" >&2; exit 1; }
	@test -z "$$(git status --porcelain)" || { git status --short; echo "verify: files that are not committed" >&2; exit 1; }
	@for m in $(GO_MODULES); do (cd $$m && go vet ./... && go mod verify >/dev/null) || exit; done
	@$(MAKE) --no-print-directory lint programs

programs: ## Build the programs for every platform as their images do, into bin/PLATFORM
	@for platform in $(PLATFORMS); do for program in $(PROGRAMS); do \
	  echo "bin/$$platform/$$program"; \
	  GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -trimpath -buildvcs=false -tags $(TAGS) \
	    -ldflags '-s -w -buildid= -X main.version=$(VERSION)' -o "bin/$$platform/" ./cmd/$$program || exit; \
	done; done

image: ## Build the images with the builder of this machine: docker, podman or buildah
	@VERSION=$(VERSION) REGISTRY=$(REGISTRY) PLATFORMS="$(PLATFORMS)" ./build-images.sh $(PROGRAMS)

sbom: programs ## Write what the programs are made of, as SPDX, beside them
	@for platform in $(PLATFORMS); do for program in $(PROGRAMS); do \
	  (cd e2e && go run ./packaging/sbom ../bin/$$platform/$$program > ../bin/$$platform/$$program.spdx.json) || exit; \
	done; done

bench: cluster ## Measure managers against bare StatefulSets
	cd e2e && go run ./benchmark

soak: cluster ## Change 40 sets of both kinds at random for 3 minutes, then look at what is left; SEED=2 for other traffic
	@$(call attempt,cd e2e && KUBE=$(KUBE) go run ./soak -seed $(SEED))

# The documentation. Hugo is pinned in a module of its own and built once, into the
# user's cache; what else is needed is pinned in site/package-lock.json.
HUGO_VERSION = $(shell cd site/hugo && go list -m -f '{{.Version}}' github.com/gohugoio/hugo)
HUGO = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/lws-site/hugo-$(HUGO_VERSION)
SITE_CHECK = cd site && go run ./check
SHOTS ?= $(CURDIR)/bin/screenshots

site: hugo site/node_modules/.package-lock.json ## Build the documentation into site/public and check its links
	cd site && go test -count=1 ./...
	rm -rf site/public
	cd site && PATH="$(CURDIR)/site/node_modules/.bin:$$PATH" $(HUGO) --minify --panicOnWarning --printPathWarnings
	$(SITE_CHECK) links public content

site-serve: hugo site/node_modules/.package-lock.json ## Show the documentation on http://localhost:1313 while it is edited
	cd site && PATH="$(CURDIR)/site/node_modules/.bin:$$PATH" $(HUGO) server

site-blocks: up ## Apply every YAML block of the documentation to the local cluster, dry
	@eval "$$($(LOCAL) env)" && $(call attempt,$(SITE_CHECK) blocks content)

site-walkthroughs: local bin/helm ## Run every command of the walkthroughs on the local cluster
	@$(call attempt,$(MAKE) --no-print-directory up && eval "$$($(LOCAL) env)" && \
	  $(SITE_CHECK) walkthroughs .. content/docs/walkthroughs || { $(MAKE) -C $(CURDIR) --no-print-directory down; false; })

site-browser: site ## Open every page of the built documentation in headless Chromium
	mkdir -p $(SHOTS)
	@$(call attempt,$(SITE_CHECK) browser public $(SHOTS))

site-check: site site-blocks site-walkthroughs site-browser ## All of it

hugo:
	@test -x $(HUGO) || { echo "building Hugo $(HUGO_VERSION), once"; mkdir -p $(dir $(HUGO)) && cd site/hugo && go build -o $(HUGO) github.com/gohugoio/hugo; }

site/node_modules/.package-lock.json: site/package-lock.json
	@$(call attempt,cd site && npm ci)

cluster:
	@cd e2e/cluster && go build -o $(CLUSTER) .

local:
	@cd e2e && go build -o $(LOCAL) ./local
