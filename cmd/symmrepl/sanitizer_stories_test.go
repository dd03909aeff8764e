package main

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestSanitizerStories: a report describes the missing order and the repair in words that fit the
// program.
func TestSanitizerStories(t *testing.T) {
	if device() != "cpu" {
		t.Skip("the sanitizer needs the cpu device")
	}
	if testing.Short() {
		t.Skip("short: compiles kernels for the sanitizer")
	}
	for _, c := range []struct {
		name, hosts, text string
		reports           map[string][]string // each report begins like a key and contains the texts of that key
		never             []string
	}{
		{"a put that is made again, without an answer", "2",
			`x, src, out := symm.Empty(symm.I32, 64), symm.Local(symm.I32, 16).Fill(3), symm.Local(symm.I32, 16)
h := symm.Rendezvous(x)
k := symm.Compile("__global__ void k(symm::Handle h, int* src, int* out, int epoch) {\n" +
	"  symm::put(h, (h.rank + 1) % h.world_size, 0, src, 64, symm::signal_set(0, epoch));\n" +
	"  symm::wait_for_signal(h, 0, epoch, true);\n" +
	"  __syncthreads();\n" +
	"  if (threadIdx.x < 16) out[threadIdx.x] = h.buffer<int>(h.rank)[threadIdx.x];\n" +
	"  symm::flush(h);\n}")
for e := range 2 { k.Launch(symm.Grid(1), symm.Block(32), h, src, out, e+1) }
symm.Synchronize()`,
			map[string][]string{"race between ranks: in i32[64]": {"let the re", "answer"}}, []string{"signal of its own", "signal over"}},
		{"a put that nobody waits for", "2", `x, src, out := symm.Empty(symm.I32, 64), symm.Local(symm.I32, 16).Fill(3), symm.Local(symm.I32, 16)
h := symm.Rendezvous(x)
k := symm.Compile("__global__ void k(symm::Handle h, int* src, int* out) {\n" +
	"  symm::put(h, (h.rank + 1) % h.world_size, 0, src, 64);\n" +
	"  symm::flush(h);\n" +
	"  if (threadIdx.x < 16) out[threadIdx.x] = h.buffer<int>(h.rank)[threadIdx.x];\n}")
k.Launch(symm.Grid(1), symm.Block(32), h, src, out)
symm.Synchronize()
h.Barrier(0)`,
			map[string][]string{"race between ranks: in i32[64]": {"nothing orders the put and the read",
				"let the put raise a signal of its own"}}, nil},
		{"shared memory that a race leaves unwritten", "", `out := symm.Local(symm.F32, 64)
k := symm.Compile("__global__ void k(float* out) {\n  __shared__ float s[64];\n  s[threadIdx.x] = 1;\n  out[threadIdx.x] = s[63 - threadIdx.x];\n}")
k.Launch(symm.Grid(1), symm.Block(64), out)
symm.Synchronize()`,
			map[string][]string{"race in a block": {"__syncthreads() between the two"}}, []string{"never written", "tensor"}},
		{"shared memory that nobody writes", "", `out := symm.Local(symm.F32, 32)
k := symm.Compile("__global__ void k(float* out) {\n  __shared__ float s[64];\n  s[threadIdx.x] = 1;\n  __syncthreads();\n  out[threadIdx.x] = s[threadIdx.x + 1];\n}")
k.Launch(symm.Grid(1), symm.Block(32), out)
symm.Synchronize()`,
			map[string][]string{"never written: byte 128 of the block's shared memory": {"no thread of the block has written it",
				"write it before it is read"}}, []string{"tensor"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const ranks = 2
			hosts, err := session.ParseHosts(c.hosts, ranks)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("SYMMREPL_NET", "null")
			w := &watchedSession{t: t, Session: launchOn(t, ranks, hosts)}
			w.evaluate("sanitize", "symm.Sanitize(true, 0)")
			reply := w.evaluate("story", c.text)
			if len(reply.Errors) > 0 || len(reply.Findings) == 0 {
				t.Fatalf("%v, %d findings", reply.Errors, len(reply.Findings))
			}
			for _, f := range reply.Findings {
				text := strings.ReplaceAll(reported(f), "\n", " ")
				_, text, _ = strings.Cut(text, "] ")
				known := false
				for head, parts := range c.reports {
					if !strings.HasPrefix(text, head) {
						continue
					}
					known = true
					for _, part := range parts {
						known = known && strings.Contains(text, part)
					}
				}
				for _, part := range c.never {
					known = known && !strings.Contains(text, part)
				}
				if !known {
					t.Errorf("reported:\n%s\nwant %q, and nothing of %q", reported(f), c.reports, c.never)
				}
			}
		})
	}
}

// TestSanitizerManyTensors: the sanitizer watches memory even after thousands of symmetric tensors
// that were never freed.
func TestSanitizerManyTensors(t *testing.T) {
	t.Parallel()
	if device() != "cpu" {
		t.Skip("the sanitizer needs the cpu device")
	}
	if testing.Short() {
		t.Skip("short: compiles kernels for the sanitizer")
	}
	w := &watchedSession{t: t, Session: launchOn(t, 4, session.Hosts{})}
	w.evaluate("sanitize", "symm.Sanitize(true, 0)")
	reply := w.evaluate("many", `kept := []*symm.Handle{}
for range 1100 { kept = append(kept, symm.Rendezvous(symm.Empty(symm.I32, 128))) }
h := symm.Rendezvous(symm.Empty(symm.I32, 32))
k := symm.Compile("__global__ void k(symm::Handle h, int* out) {\n  h.buffer<int>((h.rank + 1) % h.world_size)[threadIdx.x] = 1;\n  out[threadIdx.x] = h.buffer<int>(h.rank)[threadIdx.x];\n}")
k.Launch(symm.Grid(1), symm.Block(32), h, symm.Local(symm.I32, 32))
symm.Synchronize()`)
	if len(reply.Errors) > 0 || len(reply.Findings) != 1 || reply.Findings[0].Kind != "race between ranks" {
		t.Errorf("errors %v, findings %v", reply.Errors, reply.Findings)
	}
}
