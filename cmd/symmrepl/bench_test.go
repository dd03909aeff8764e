//go:build !race

package main

import (
	"embed"
	"encoding/json"
	"encoding/xml"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/opbench"
)

//go:embed all:testdata/torch
var fakeTorch embed.FS

// python puts a python3 without packages on h's PATH. If gpus is not empty, that python3 has a fake
// torch, which implements the functions that the benchmark's peers call and reports this number of
// GPUs.
func (h *home) python(gpus string) {
	packages, bin := filepath.Join(h.dir, "packages"), filepath.Join(h.dir, "bin")
	sources, err := fs.Sub(fakeTorch, "testdata/torch")
	if err == nil {
		err = os.RemoveAll(packages)
	}
	if err == nil && gpus != "" {
		err = os.CopyFS(packages, sources)
	}
	if err == nil {
		err = os.MkdirAll(bin, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(bin, "python3"),
			[]byte("#!/bin/sh\nPATH=${PATH#*:} FAKE_GPUS="+gpus+" PYTHONPATH="+packages+" exec python3 -S -B \"$@\"\n"), 0o700)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
}

// numbers matches the figures of a table. They differ from run to run.
var numbers = regexp.MustCompile(` +(-?[0-9]+\.[0-9]+(e-[0-9]+)?|[0-9]+e-[0-9]+)\b`)

// shape returns a table with N for every figure and one space between columns.
func shape(s string) string {
	s = numbers.ReplaceAllString(s, " N")
	return regexp.MustCompile(`(?m)^ +| +$`).ReplaceAllString(regexp.MustCompile(` +`).ReplaceAllString(s, " "), "")
}

func TestBenchTables(t *testing.T) {
	h := newHome(t, 2)
	picture := filepath.Join(h.dir, "bench.svg")
	r := h.run("", "bench", "put", "all_gather_copy_engine", "barrier", "memset32", "mem_pool", "matmul", "-n", "2", "--device", device(),
		"--sizes", "1K,4K", "--svg", picture)
	lines := strings.SplitN(shape(r.out), "\n", 3)
	const want = `
all_gather_copy_engine
bytes limit graph eager alg bus of link
1024 N N N N N N
4096 N N N N N N

put
bytes limit graph eager alg bus of link
1024 N N N N N N
4096 N N N N N N

barrier
bytes graph eager
4 N N

memset32
bytes graph eager alg
1024 N N N
4096 N N N

mem_pool
bytes eager
1024 N
4096 N

matmul
bytes graph eager TFLOP/s
1024 N N N
4096 N N N
`
	if r.status != 0 || r.err != "" || len(lines) != 3 || lines[2] != want {
		t.Errorf("%+v", r)
	}
	// On GPUs the benchmark also measures the rate of stores.
	if !strings.HasSuffix(strings.TrimSuffix(lines[0], ", stores N GB/s"),
		", 2 ranks, bf16; empty kernel in a graph N us, flag round trip N us, copies to all peers N GB/s") {
		t.Errorf("the first line is %q", lines[0])
	}
	titles := []string{"all_gather_copy_engine", "all_gather_copy_engine", "put", "put", "memset32", "memset32", "mem_pool", "matmul",
		"matmul"}
	got, size := textsOf(t, picture)
	shown := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !slices.Contains(titles, s) })
	if !slices.Equal(shown, titles) || size != "720pt 1080pt" {
		t.Errorf("a picture of %s with %q", size, shown)
	}
	for text, n := range map[string]int{"1K": 9, "4K": 9, "us a call": 5, "bus bandwidth, GB/s": 2, "TFLOP/s": 1, "graph": 4, "eager": 5,
		"limit": 2, "link": 2, "symmrepl": 4} {
		if found := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != text })); found != n {
			t.Errorf("%q is in the picture %d times, want %d", text, found, n)
		}
	}
	h.expectNothingLeft()
}

// textsOf returns the texts of an SVG picture in order, and its size. The file must be well-formed.
func textsOf(t *testing.T, file string) (texts []string, size string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inText := false
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if err == io.EOF {
			return texts, size
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inText = x.Name.Local == "text"
			if x.Name.Local == "svg" {
				size = x.Attr[0].Value + " " + x.Attr[1].Value
			}
		case xml.CharData:
			if inText {
				texts = append(texts, string(x))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// Every operation can be measured. Its line of JSON has the fields of its kind of operation.
func TestBenchJSON(t *testing.T) {
	h := newHome(t, 2)
	r := h.run("", "bench", "-n", "2", "--device", device(), "--sizes", "1K", "--dtype", "f32", "--json")
	if r.status != 0 || r.err != "" {
		t.Fatalf("%+v", r)
	}
	lines := jsonLines(t, r.out)
	if keys := keysOf(lines[0]); keys != "device dtype empty_us link_gbps ranks round_trip_us" || lines[0]["dtype"] != "f32" ||
		lines[0]["ranks"] != 2.0 {
		t.Errorf("the first line is %v", lines[0])
	}
	got := map[string]string{}
	for _, line := range lines[1:] {
		if device() != "cpu" { // NCCL, if it is installed
			delete(line, "peers")
			delete(line, "ratio")
		}
		got[line["op"].(string)] = keysOf(line)
		if bytes := line["bytes"]; bytes != 1024.0 && bytes != 4.0 {
			t.Errorf("%v", line)
		}
		for name, v := range line {
			if x, ok := v.(float64); ok && x <= 0 &&
				!(name == "graph_us" && (line["op"] == "mem_pool" || line["op"] == "empty_rendezvous")) {
				t.Errorf("%s is %v in %v", name, v, line)
			}
		}
	}
	words := []string{"barrier", "signal_ring", "signal_round_trip", "stream_write_value32"}
	for _, name := range opbench.Names() {
		want := "alg_gbps bus_gbps by bytes eager_us graph_us limit_us of_link op"
		switch {
		case slices.Contains(words, name) || name == "mem_pool" || name == "empty_rendezvous":
			want = "by bytes eager_us graph_us op"
		case name == "memset32":
			want = "alg_gbps by bytes eager_us graph_us op"
		case name == "matmul":
			want = "by bytes eager_us graph_us op tflops"
		case strings.HasPrefix(name, "multimem") && device() != "cpu":
			continue // multicast may be off
		}
		if got[name] != want {
			t.Errorf("%s has the fields %q, want %q", name, got[name], want)
		}
	}
}

func jsonLines(t *testing.T, s string) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(s) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		lines = append(lines, fields)
	}
	return lines
}

func keysOf(fields map[string]any) string {
	var keys []string
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// On several hosts the benchmark measures each collective flat and hierarchical and compares it
// with the network's rate. It does not measure an operation that works within one host only.
func TestBenchOverHosts(t *testing.T) {
	h := newHome(t, 4)
	hosts := []string{"-n", "4", "--hosts", "2", "--net", "null", "--device", "cpu", "--sizes", "1K"}
	r := h.run("", append([]string{"bench", "all_reduce", "one_shot_all_reduce", "all_to_all_vdev", "put", "barrier"}, hosts...)...)
	lines := strings.SplitN(shape(r.out), "\n", 4)
	const want = `
one_shot_all_reduce
not measured: it needs the memory of all ranks, some of which are on other hosts

all_reduce
bytes limit graph eager alg bus of network flat limit flat graph flat eager hierarchical limit hierarchical graph hierarchical eager
1024 N N N N N N N N N N N N

all_to_all_vdev
bytes limit graph eager alg bus of network flat limit flat graph flat eager
1024 N N N N N N N N N

put
bytes graph eager alg
1024 N N N

barrier
bytes graph eager
4 N N
`
	if r.status != 0 || r.err != "" || len(lines) != 4 || lines[3] != want {
		t.Errorf("%+v", r)
	}
	const first = "cpu, 4 ranks on 2 hosts, bf16; empty kernel in a graph N us, signal to another host and back N us, puts of every rank over the null network N GB/s"
	if lines[0] != first {
		t.Errorf("the first line is %q", lines[0])
	}
	r = h.run("", append([]string{"bench", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "--json"}, hosts...)...)
	rows := jsonLines(t, r.out)
	if keys := keysOf(rows[0]); r.status != 0 || len(rows) != 5 ||
		keys != "between device dtype empty_us network_gbps parts ranks round_trip_us" {
		t.Fatalf("%+v", r)
	}
	for _, row := range rows[1:] {
		if keys := keysOf(row); keys != "alg_gbps bus_gbps by bytes eager_us graph_us limit_us of_network op ways" {
			t.Errorf("%v has the fields %q", row["op"], keys)
		}
		for _, name := range []string{"flat", "hierarchical"} {
			way, _ := row["ways"].(map[string]any)[name].(map[string]any)
			if keys := keysOf(way); keys != "eager_us graph_us limit_us" {
				t.Errorf("%v, %s has the fields %q", row["op"], name, keys)
			}
		}
	}
	for arg, why := range map[string]string{"--peers": "--peers measures others within a host",
		"overlap": "overlap: the all-gather of copy engines stays within a host", "fsdp": "fsdp: the copy engines stay within a host"} {
		if r := h.run("", append([]string{"bench", arg}, hosts...)...); r.status == 0 || !strings.Contains(r.err, why) {
			t.Errorf("%s: %+v", arg, r)
		}
	}
}

func TestBenchOverlap(t *testing.T) {
	h := newHome(t, 2)
	r := h.run("", "bench", "overlap", "-n", "2", "--device", device(), "--sizes", "4K")
	percent := regexp.MustCompile(`[+-][0-9.]+ %`)
	lines := strings.SplitN(shape(percent.ReplaceAllString(r.out, "P")), "\n", 2)
	side := "128"
	if device() != "cpu" {
		side = "8192"
	}
	if !strings.HasSuffix(lines[0], ", 2 ranks, bf16; product of matrices of "+side+" rows and columns, copies to all peers N GB/s") {
		t.Errorf("the first line is %q", lines[0])
	}
	const want = `us a call, alone and while the other goes on

all-gather of 4096 bytes a rank, at the copies' rate N us
all-gather by product beside it all-gather beside it
multiprocessors N N P N N P
copy engines N N P N N P
copy engines, in a graph N N P N N P
`
	if r.status != 0 || r.err != "" || lines[1] != want {
		t.Errorf("%s\nwant\n%s%s", lines[1], want, r.err)
	}

	h.python("2")
	r = h.run("", "bench", "overlap", "-n", "2", "--device", device(), "--sizes", "4K", "--json", "--peers")
	if r.status != 0 {
		t.Fatalf("%+v", r)
	}
	json := jsonLines(t, r.out)
	if keys := keysOf(json[0]); keys != "device dtype link_gbps ranks side" {
		t.Errorf("%v", json[0])
	}
	var ways []any
	for _, line := range json[1:] {
		ways = append(ways, line["way"])
		if keys := keysOf(line); keys != "bytes gather_beside_us gather_us op product_beside_us product_us way" ||
			line["bytes"] != 4096.0 || line["op"] != "overlap" {
			t.Errorf("%v", line)
		}
	}
	if !slices.Equal(ways, []any{"multiprocessors", "copy engines", "copy engines, in a graph", "NCCL"}) {
		t.Errorf("%v", ways)
	}
	h.expectNothingLeft()
}

func TestBenchFSDP(t *testing.T) {
	h := newHome(t, 2)
	r := h.run("", "bench", "fsdp", "-n", "2", "--device", device(), "--sizes", "4K")
	lines := strings.SplitN(shape(r.out), "\n", 2)
	if !strings.HasSuffix(lines[0], ", 2 ranks, bf16; a step of 8 layers, forward and backward, whose weights and gradients are sharded") {
		t.Errorf("the first line is %q", lines[0])
	}
	const want = `
weights of 32 rows and columns, 2048 bytes a layer
gathers and scatters us a step
products alone N
one after the other N
overlapped, multiprocessors N
overlapped, copy engines N
overlapped, copy engines, two layers ahead N
`
	if r.status != 0 || r.err != "" || lines[1] != want {
		t.Errorf("%s\nwant\n%s%s", lines[1], want, r.err)
	}

	h.python("2")
	r = h.run("", "bench", "fsdp", "-n", "2", "--device", device(), "--sizes", "4K", "--json", "--peers")
	if r.status != 0 {
		t.Fatalf("%+v", r)
	}
	json := jsonLines(t, r.out)
	if keys := keysOf(json[0]); keys != "device dtype layers ranks" {
		t.Errorf("%v", json[0])
	}
	var ways []any
	for _, line := range json[1:] {
		ways = append(ways, line["way"])
		if keys := keysOf(line); keys != "bytes op step_us way" || line["bytes"] != 2048.0 || line["op"] != "fsdp" {
			t.Errorf("%v", line)
		}
	}
	if !slices.Equal(ways, []any{"products alone", "one after the other", "overlapped, multiprocessors", "overlapped, copy engines",
		"overlapped, copy engines, two layers ahead", "NCCL, one after the other", "NCCL, overlapped"}) {
		t.Errorf("%v", ways)
	}
	h.expectNothingLeft()
}

func TestBenchTokenSwitch(t *testing.T) {
	h := newHome(t, 2)
	r := h.run("", "bench", "token_switch", "-n", "2", "--device", device(), "--json")
	if r.status != 0 || r.err != "" {
		t.Fatalf("%+v", r)
	}
	json := jsonLines(t, r.out)
	if keys := keysOf(json[0]); keys != "device dtype experts hidden link_gbps ranks top" {
		t.Errorf("%v", json[0])
	}
	var ways []any
	for _, line := range json[1:] {
		ways = append(ways, line["way"])
		const keys = "all_us combine_events_us combine_wire_bytes dispatch_events_us dispatch_wire_bytes op routing_us selected_bytes tokens way with_dispatch_us"
		if keysOf(line) != keys {
			t.Errorf("%v", line)
		}
		if line["combine_wire_bytes"].(float64) >= line["selected_bytes"].(float64) {
			t.Errorf("a rank sends more bytes than are selected: %v", line)
		}
	}
	if !slices.Equal(ways, []any{"low_latency expert_major", "low_latency expert_major f8e4m3", "low_latency rank_major",
		"low_latency expert_major", "high_throughput flat",
		"high_throughput expert_major"}) {
		t.Errorf("%v", ways)
	}
	h.expectNothingLeft()
}

// Between hosts the benchmark counts the bytes that cross. With high throughput a token crosses at
// most once to each host.
func TestBenchTokenSwitchOverHosts(t *testing.T) {
	h := newHome(t, 4)
	r := h.run("", "bench", "token_switch", "-n", "4", "--hosts", "2", "--net", "null", "--device", "cpu", "--json")
	if r.status != 0 || r.err != "" {
		t.Fatalf("%+v", r)
	}
	json := jsonLines(t, r.out)
	if keys := keysOf(json[0]); keys != "between device dtype experts hidden network_gbps parts ranks top" {
		t.Errorf("%v", json[0])
	}
	for fact, want := range map[string]any{"device": "cpu", "ranks": 4.0, "between": "the null network", "hidden": 256.0, "experts": 16.0, "top": 4.0,
		"parts": []any{[]any{0.0, 1.0}, []any{2.0, 3.0}}} {
		if got := json[0][fact]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", fact, got, want)
		}
	}
	for _, line := range json[1:] {
		way, tokens, row := line["way"].(string), line["tokens"].(float64), 2*json[0]["hidden"].(float64)
		sent, back := line["dispatch_wire_bytes"].(float64), line["combine_wire_bytes"].(float64)
		if strings.HasPrefix(way, "high_throughput") && (sent > tokens*row || back != 2*sent) || !(sent > 0) {
			t.Errorf("%v tokens of %v bytes: %v", tokens, row, line)
		}
	}
	h.expectNothingLeft()
}

// The benchmark measures the operations that the peers support. For each other one it prints a line
// with the reason.
func TestBenchPeers(t *testing.T) {
	if device() != "cpu" {
		t.Skip("on GPUs the tables have columns of NCCL, if it is installed")
	}
	h := newHome(t, 2)
	bench := func(gpus string, ops ...string) string {
		t.Helper()
		h.python(gpus)
		r := h.run("", append([]string{"bench", "-n", "2", "--device", device(), "--sizes", "1K", "--peers"}, ops...)...)
		if r.status != 0 {
			t.Fatalf("%+v", r)
		}
		out := shape(r.out)
		for range 2 {
			out = out[strings.IndexByte(out, '\n')+1:]
		}
		return out
	}
	const own = `
all_reduce
bytes limit graph eager alg bus of link
1024 N N N N N N
`
	if got, want := bench("", "all_reduce"), "PyTorch and NCCL not measured: "+h.dir+"/bin/python3 has no torch\n"+own; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := bench("1", "all_reduce"), "PyTorch and NCCL not measured: torch 0-fake sees 1 GPUs, 2 are needed\n"+own; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	const want = `NVSHMEM not measured: torch 0-fake: SymmetricMemory does not find allocation backend NVSHMEM

all_reduce
bytes limit graph eager alg bus of link PyTorch graph PyTorch eager NCCL graph NCCL eager ratio
1024 N N N N N N N N N N N
PyTorch: torch 0-fake: 'types.SimpleNamespace' object has no attribute 'two_shot_all_reduce_'

all_to_all_vdev
bytes limit graph eager alg bus of link
1024 N N N N N N

broadcast
bytes limit graph eager alg bus of link
1024 N N N N N N
NCCL: torch 0-fake: module 'torch.distributed' has no attribute 'broadcast'

put_block
bytes limit graph eager alg bus of link PyTorch graph PyTorch eager ratio
1024 N N N N N N N N N

mem_pool
bytes eager PyTorch eager ratio
1024 N N N

matmul
bytes graph eager TFLOP/s PyTorch graph PyTorch eager ratio
1024 N N N N N N
`
	if got := bench("2", "all_reduce", "broadcast", "put_block", "mem_pool", "matmul", "all_to_all_vdev"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	h.expectNothingLeft()
}

// The benchmark of the network measures puts between kernels of two hosts. It refuses to run if all
// ranks are on one host.
func TestBenchNet(t *testing.T) {
	h := newHome(t, 4)
	r := h.run("", "bench", "net", "-n", "4", "--device", "cpu", "--net", "null")
	rows := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if r.status != 0 || len(rows) != 9 || rows[0] != "4 ranks, cpu, between hosts the null network" {
		t.Fatalf("status %d\n%s%s", r.status, r.out, r.err)
	}
	for i, want := range []string{"put of 0 B", "put of 8 B", "put of 4096 B", "put of 65536 B", "put of 1048576 B", "puts of 8 B",
		"puts of 32768 B", "puts of 1048576 B"} {
		figures := `with signal, kernel to kernel, one way +[0-9.]+ us least, [0-9.]+ us median, [0-9.]+ us p90`
		if i >= 5 {
			figures = `one after the other +[0-9.]+ us each, [0-9.]+ GB/s`
		}
		if !regexp.MustCompile("^" + want + ",? " + figures + "$").MatchString(rows[i+1]) {
			t.Errorf("the row %q does not measure %s", rows[i+1], want)
		}
	}
	if r := h.run("", "bench", "net", "--hosts", "1", "-n", "2", "--device", "cpu"); r.status != 3 ||
		!strings.Contains(r.err, "all ranks are on one host: give --hosts 2") {
		t.Errorf("on one host: status %d\n%s%s", r.status, r.out, r.err)
	}
}

// The benchmark measures saving and loading, and compares them with the libraries that python3 has.
// With --json each figure has a line.
func TestBenchLoad(t *testing.T) {
	h := newHome(t, 1)
	h.python("")
	args := []string{"bench", "load", "--device", "cpu", "--sizes", "64K", "--peers"}
	r := h.run("", args...)
	const want = `cpu, f32[16384], 0.0625 MiB; ms, the least of several
numpy is not measured: No module named 'numpy'
safetensors is not measured: No module named 'safetensors'
PyTorch is not measured: No module named 'torch'
symmrepl loop ratio to the best library
save .safetensors N N
load .safetensors N N
save .npy N
load .npy N
read N
read a slice of 4 KiB N
fill N
`
	if got := strings.Replace(shape(r.out), " N MiB", " 0.0625 MiB", 1); r.status != 0 || got != want {
		t.Errorf("%s\nwant\n%s%s", got, want, r.err)
	}
	r = h.run("", append(args, "--json")...)
	lines := jsonLines(t, r.out)
	if len(lines) != 10 || keysOf(lines[0]) != "error" || keysOf(lines[3]) != "bytes device loop_ms op symmrepl_ms" ||
		lines[9]["op"] != "fill" {
		t.Errorf("%v", lines)
	}
	if r := h.run("", "bench", "load", "--sizes", "1K,2K"); r.status != 2 || !strings.Contains(r.err, "give --sizes one size") {
		t.Errorf("%+v", r)
	}
	h.expectNothingLeft()
}

func TestBenchTensors(t *testing.T) {
	h := newHome(t, 1)
	r := h.runWithin(5*patience(), "", "bench", "tensors", "--device", device(), "--dtype", "f32", "--sizes", "64K", "--json")
	if r.status != 0 || r.err != "" {
		t.Fatalf("%+v", r)
	}
	json := jsonLines(t, r.out)
	for _, line := range json {
		if keys := keysOf(line); keys != "by bytes dtype gbps of_copy op size us" || line["size"] != 65536.0 ||
			line["gbps"].(float64) <= 0 || line["op"] == "copy" && line["of_copy"] != 1.0 {
			t.Errorf("%v", line)
		}
	}
	if len(json) != 20 {
		t.Errorf("there are %d lines", len(json))
	}
	if r := h.run("", "bench", "tensors", "--svg", "x.svg"); r.status != 2 || !strings.Contains(r.err, "tensors has tables") {
		t.Errorf("%+v", r)
	}
}

func TestBenchCell(t *testing.T) {
	h := newHome(t, 2)
	h.python("")
	r := h.run("", "bench", "cell", "-n", "2", "--device", "cpu")
	const want = `2 ranks, cpu; medians
PyTorch is not measured: No module named 'torch'
ipykernel is not measured: No module named 'ipykernel'
ipyparallel is not measured: No module named 'ipyparallel'
symmrepl closure ratio to the best library
start to the first value, ms N
cell x := 1 on all ranks, ms N
edited kernel to its result, ms N
the same kernel again, ms N
launch of a kernel, µs N N
fill of 4 KiB, µs N N
barrier, µs N N
one-shot all-reduce of 4 KiB, µs N N
`
	if got := shape(r.out); r.status != 0 || got != want {
		t.Errorf("%s\nwant\n%s%s", got, want, r.err)
	}
	h.expectNothingLeft()
}

func TestBenchKernels(t *testing.T) {
	h := newHome(t, 2)
	r := h.run("", "bench", "kernels", "--device", "cpu")
	want := "2 ranks, cpu; µs: of kernels the processor's time of all threads, of collectives the time of the quickest call\nsymmrepl g++ -O2 ratio\n"
	rows := []string{"saxpy, 1 Mi elements", "sums, 256 elements a thread", "sums, 16 elements a thread", "sums, 1 element a thread", "product, 512 x 512"}
	for _, name := range []string{"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast"} {
		rows = append(rows, name+", 1 MiB")
	}
	for _, row := range rows {
		want += row + " N N N\n"
	}
	if got := shape(r.out); r.status != 0 || got != want {
		t.Errorf("%s\nwant\n%s%s", got, want, r.err)
	}
	h.expectNothingLeft()
}
