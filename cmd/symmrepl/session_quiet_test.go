package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var quietFor = flag.Duration("quiet", 5*time.Second, "how long the loop of TestHealthyScriptsSayNothing runs")

// The session prints no remark about a script that makes progress, however long the script takes:
// on more ranks than processors, while all ranks sleep or compute, while the sanitizer watches its
// kernels, and while one rank comes late again and again.
func TestHealthyScriptsSayNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("short: depends on times, which the race detector changes")
	}
	t.Parallel()
	turns := "60_000_000"
	if device() != "cpu" {
		turns = "20_000_000" // which take as long on an H100
	}
	scripts := []struct {
		name   string
		ranks  int
		script string
		flags  []string
	}{
		{"collectives", 8, fmt.Sprintf(`t := symm.Empty(symm.F32, 1<<14).Fill(1); h := symm.Rendezvous(t)
more := symm.Empty(symm.I32, 1); hm := symm.Rendezvous(more)
// %%%%
begun, rounds := time.Now(), 0
for {
	symm.OneShotAllReduce(t, "avg").Free()
	symm.AllGather(t).Free()
	symm.TwoShotAllReduce(t, "avg")
	h.Barrier(1)
	h.PutSignal((symm.Rank()+1)%%8, 0)
	h.WaitSignal((symm.Rank()+7)%%8, 0)
	symm.ReduceScatter(t, "avg").Free()
	symm.Broadcast(t, rounds%%8)
	rounds++
	goes := 0
	if symm.Rank() == 0 && time.Since(begun) < %d*time.Millisecond {
		goes = 1
	}
	if symm.AllReduce(more.Fill(goes), "sum").Ints()[0] == 0 {
		break
	}
}
if symm.Rank() == 0 { fmt.Println("healthy", rounds > 0) }`, quietFor.Milliseconds()), nil},
		{"sleep", 2, "time.Sleep(5*time.Second)\nif symm.Rank() == 0 { fmt.Println(\"healthy\", true) }", nil},
		{"sleep while the device waits", 2, `t := symm.Empty(symm.F32, 8); h := symm.Rendezvous(t)
h.WaitForSignal(1, "==", 1)
time.Sleep(4*time.Second)
h.SignalAdd(1-symm.Rank(), 1, 1, symm.NewStream())
symm.Synchronize()
if symm.Rank() == 0 { fmt.Println("healthy", true) }`, nil},
		{"computing", 2, "begun := time.Now()\nn := 0\nfor time.Since(begun) < 4*time.Second { n++ }\nif symm.Rank() == 0 { fmt.Println(\"healthy\", true) }", nil},
		{"goroutines that compute", 2, `import "sync"
var g sync.WaitGroup
for range 2 {
	g.Add(1)
	go func() {
		defer g.Done()
		for begun := time.Now(); time.Since(begun) < 4*time.Second; {
		}
	}()
}
g.Wait()
if symm.Rank() == 0 { fmt.Println("healthy", true) }`, nil},
		{"goroutines that sleep", 2, `import "sync"
var g sync.WaitGroup
g.Add(1)
go func() { defer g.Done(); time.Sleep(4*time.Second) }()
g.Wait()
if symm.Rank() == 0 { fmt.Println("healthy", true) }`, nil},
		{"one rank is late by little", 4, `t := symm.Empty(symm.F32, 8).Fill(1); symm.Rendezvous(t)
for i := range 5 {
	if symm.Rank() == i%4 { time.Sleep(800*time.Millisecond) }
	symm.AllReduce(t, "avg"); symm.Synchronize()
}
if symm.Rank() == 0 { fmt.Println("healthy", true) }`, nil},
		{"a kernel that computes", 2, "k := symm.Compile(`__global__ void k(float* x, long long n) { float y = x[threadIdx.x]; for (long long i = 0; i < n; i++) y = y * 0.5f + 1.0f; x[threadIdx.x] = y; }`)\n" +
			"t := symm.Local(symm.F32, 4).Fill(1)\nfor range 6 { k.Launch(symm.Grid(1), symm.Block(4), t, " + turns +
			") }\nsymm.Synchronize()\nif symm.Rank() == 0 { fmt.Println(\"healthy\", true) }", nil},
		{"watched kernels", 2, "k := symm.Compile(`__global__ void k(symm::Handle h, float* x, int n) { float y = 0; for (int i = 0; i < n; i++) y += x[(threadIdx.x + i) % 32]; x[32 + threadIdx.x] = y; symm::barrier(h, 0); }`)\n" +
			"t := symm.Empty(symm.F32, 64).Fill(1); h := symm.Rendezvous(t); x := symm.Local(symm.F32, 64).Fill(0)\n" +
			"n := 20_000; if symm.Rank() == 0 { n = 2_000_000 }\nk.Launch(symm.Grid(1), symm.Block(32), h, x, n); symm.Synchronize()\nif symm.Rank() == 0 { fmt.Println(\"healthy\", true) }", []string{"--sanitize"}},
	}
	for _, s := range scripts {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, s.ranks)
			file := filepath.Join(h.dir, "s.go")
			if err := os.WriteFile(file, []byte(s.script+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r := h.runWithin(patience()+*quietFor, "", append([]string{"run", "-n", fmt.Sprint(s.ranks), "--device", device(), file},
				s.flags...)...)
			want := result{0, "[0] healthy true\n", ""}
			if s.flags != nil {
				want.err = "the sanitizer has found nothing in one order\n"
			}
			if s.flags != nil && device() != "cpu" {
				_, found, _ := strings.Cut(r.err, "\n") // the first line says what it cannot find on GPUs
				r.err = found
			}
			if r != want {
				t.Errorf("after %v: %+v", time.Since(began), r)
			}
			t.Log(time.Since(began))
		})
	}
}
