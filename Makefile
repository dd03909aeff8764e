# Prerequisites: Go 1.26, a C++ compiler (g++ or clang++), python3 with venv. No GPU is needed.
SHELL := /bin/bash
.DEFAULT_GOAL := help
BIN := bin/symmrepl
NVRTC := .venv/nvrtc
JUPYTER := .venv/jupyter
UCX := .venv/ucx
NCCL := .venv/nccl
# The compiler of the wheels. It builds the program for both machines, and compiles kernels on machines
# without another compiler.
ZIGLANG := ziglang==0.17.1
WHEELS := build/dist

.PHONY: help demo build test test-fresh fetch python faults test-long exported conformance foreign check gophernotes bench bench-interp bench-net bench-session gpu-bundle gpu-export gpu-wheel wheel wheels wheel-try aarch64 container-try clean FORCE

help: ## show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: build ## build, and run the hello session on 4 ranks: on GPUs if there are four, else on the cpu device
	@echo '$$ $(BIN) run -n 4 tutorials/hello.go'
	@$(BIN) run -n 4 tutorials/hello.go

build: $(BIN) ## build bin/symmrepl

$(BIN): FORCE | go c++
	go build -o $@ ./cmd/symmrepl

test: export MAKE := $(MAKE)
test: | go c++ python3 ## run all checks that a change must pass: check, and all tests with cgo's pointer checks, some also with the race detector; PKG=./session/controller runs the tests of some packages
	@./.ci/test $(PKG)

test-fresh: | go c++ python3 ## run make test as on a machine that has nothing: in a clone, with an empty home and empty caches
	./.ci/test-fresh

fetch: python | go ## fetch all that make build and make test need, which then need no network
	go mod download

python: $(NVRTC) $(JUPYTER) $(UCX) ## make the local Python environment of the tests

faults: | go c++ ## kill ranks at 200 random moments, and hang in every known way (make test runs a part of these tests)
	./.ci/test-long faults

test-long: export ZIGLANG := $(ZIGLANG)
test-long: $(UCX) $(NCCL) $(JUPYTER) | go c++ ## run all tests that take too long for make test, or only the named steps: STEPS="faults flat-memory"; .ci/test-long --list lists the steps
	./.ci/test-long $(STEPS)

conformance: | go c++ ## run the suite of small programs with the Go toolchain and in a session, and print a table by section
	@cd interp && go test -count=1 -run '^(TestToolchain|TestConformance)$$' -table

exported: | go c++ ## export a session as a Go folder and as a C++ folder, build both without a network, and run them
	go test -count=1 -v -timeout 20m -run '^TestExported(Folder|Cpp)$$' ./cmd/symmrepl -exported

foreign: build ## run the test programs of Go and of yaegi, and compare with the Go toolchain: GOTEST=DIR YAEGITEST=DIR
	go run ./interp/internal/foreign -program $(BIN) -go "$(GOTEST)" -yaegi "$(YAEGITEST)" -list

check: | go c++ python3 ## gofmt, go vet, staticcheck; the Python package compiles
	@unformatted=$$(go list -f '{{if ne .Name "symmrepl"}}{{.Dir}}{{end}}' ./... | tr '\n' '\0' | xargs -0 gofmt -l *.go) && [ -z "$$unformatted" ] || { echo "these files need gofmt -w: $$unformatted" >&2; exit 1; }
	go vet ./...
	(cd client && go vet ./...)
	go tool staticcheck ./...
	@PYTHONPYCACHEPREFIX="$$PWD/build/pycache" python3 -m compileall -q python

gophernotes: $(JUPYTER) | go ## build the Go kernel gophernotes 0.7.5 and drive a session from its notebooks with the client package
	./.ci/gophernotes build/gophernotes
	SYMMREPL_GOPHERNOTES="$$PWD/build/gophernotes" SYMMREPL_JUPYTER="$$PWD/.venv/bin/python" go test -count=1 -v -run '^TestGophernotes$$' ./cmd/symmrepl

bench-net: build $(UCX) ## measure the networks between hosts over loopback: one-sided operations alone, and from kernels
	SYMMREPL_UCX_LIB="$${SYMMREPL_UCX_LIB:-$$(cat $(UCX))}" $(BIN) bench net --device cpu
	$(BIN) bench net --device cpu --net null
	SYMMREPL_UCX_LIB="$${SYMMREPL_UCX_LIB:-$$(cat $(UCX))}" go test -count=1 -v -run '^TestPerf$$' ./symmem/internal/net -perf

bench: build ## measure a session and its operations on this machine
	$(BIN) bench session
	$(BIN) bench

bench-interp: | go c++ ## compare the time of cells with plain yaegi, and measure the cost of thousands of cells
	go run ./interp/internal/bench

bench-session: | go ## measure the controller of sessions of up to 1,024 simulated ranks
	go test -count=1 -v -run '^TestSimulatedFigures$$' ./session/controller -simulate 1024

gpu-bundle: | go c++ ## build a folder that runs the tests and the benchmark on a GPU machine without Go
	./.ci/gpu-bundle gpu-bundle

gpu-export: | go c++ ## build a folder of sessions exported to Python and C++; gpu-export/run checks them on a GPU machine
	./.ci/gpu-export gpu-export

gpu-wheel: wheel ## build a folder with this machine's wheel; gpu-wheel/run installs and tries it on a GPU machine by pip alone
	./.ci/gpu-wheel $(WHEELS)/symmrepl-*_$$(uname -m).whl gpu-wheel

wheel: | go python3 ## build a Python wheel for this machine in build/dist; an installed wheel needs no Go and no compiler
	./.ci/wheel $(ZIGLANG) $(WHEELS)

wheels: | go python3 ## build the wheels for x86-64 and aarch64
	./.ci/wheel $(ZIGLANG) $(WHEELS) x86_64 aarch64

aarch64: | go python3 ## build the program for aarch64 and run it under qemu-user: sessions, the cpu device's tests, the suite on 2 ranks
	./.ci/aarch64 $(ZIGLANG)

container-try: | go python3 ## run the lines of the Dockerfile without docker, and a notebook on its JupyterLab
	./.ci/container Dockerfile

wheel-try: wheel ## install the wheel in a root that has only Python, and run the hello session there within 30 s
	./.ci/wheel-root $(WHEELS)/symmrepl-*_$$(uname -m).whl $(ZIGLANG)

clean: ## remove all build output
	rm -rf bin build gpu-bundle gpu-export gpu-wheel

# The Python environment of the tests, with the folders of NVRTC and UCX.
$(NVRTC) $(JUPYTER) $(UCX) &: .ci/python .ci/python.txt | python3
	./.ci/python

# The headers of several versions of NCCL, from Python wheels, and the examples in NCCL's sources if GitHub
# can be reached. Tests compile kernels with these headers and run the examples.
$(NCCL): | $(NVRTC)
	rm -rf $@.new && mkdir -p $@.new/include
	for v in 2.28.9 2.29.7 2.32.3; do \
		.venv/bin/pip download --quiet --disable-pip-version-check --no-deps --dest $@.new nvidia-nccl-cu13==$$v && \
		.venv/bin/python -m zipfile -e $@.new/nvidia_nccl_cu13-*.whl $@.new/wheel && mv $@.new/wheel/nvidia/nccl/include $@.new/include/$$v && rm -rf $@.new/*.whl $@.new/wheel || exit 1; \
	done
	git clone --quiet --depth 1 --branch v2.30.7-1 https://github.com/NVIDIA/nccl $@.new/source 2>/dev/null || echo "make: NCCL's examples cannot be fetched from GitHub; their test is skipped"
	mv $@.new $@

.PHONY: go c++ python3
go:
	@command -v go >/dev/null || { echo 'make: go is missing: install Go 1.26 from https://go.dev/dl' >&2; exit 1; }

c++:
	@command -v "$$(go env CXX | cut -d' ' -f1)" >/dev/null || { echo 'make: a C++ compiler is missing: apt-get install g++' >&2; exit 1; }

python3:
	@command -v python3 >/dev/null || { echo 'make: python3 is missing: apt-get install python3 python3-venv' >&2; exit 1; }
