package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
)

// If a rank has no file descriptors left, a call that needs some fails on all ranks, and the error
// names that rank. When the rank has descriptors again, the next call works.
func TestRankShortOfDescriptors(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	if device() != "cpu" {
		t.Skip("the GPU driver opens an unknown number of descriptors")
	}
	script := `import ("os"; "syscall"; "time")
var held []*os.File
t := symm.Empty(symm.I32, 4).Fill(symm.Rank() + 1)
var tensors [3]*symm.Tensor; for i := range tensors { tensors[i] = symm.Empty(symm.I32, 4) }
limit := syscall.Rlimit{Cur: 64, Max: 64}; if symm.Rank() == 1 { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) }
func fill(spare int) { if symm.Rank() != 1 { return }; for { f, err := os.Open("/dev/null"); if err != nil { break }; held = append(held, f) }; for range spare { held[len(held)-1].Close(); held = held[:len(held)-1] } }
`
	for spare := range 3 {
		script += fmt.Sprintf("fill(%d); began := time.Now(); symm.Rendezvous(tensors[%d])\n", spare, spare) +
			fmt.Sprintf("if took := time.Since(began); took > %d { fmt.Println(`took`, took) }\n", pace.Unhurried(3*time.Second))
	}
	r := h.run(script+`for _, f := range held { f.Close() }
h := symm.Rendezvous(t)
symm.OneShotAllReduce(t, "sum").Ints()[0] * 100
`, "-n", "2", "--device", "cpu")
	if r.out != "[0,1] 300\n" {
		t.Errorf("standard output %s", r.out)
	}
	for line := range strings.Lines(r.err) {
		if strings.Contains(line, "too many open files") && !strings.Contains(line, "[1] ") && !strings.Contains(line, "rank 1 ") {
			t.Errorf("the line does not name rank 1: %s", line)
		}
	}
	if !strings.Contains(r.err, "too many open files") {
		t.Errorf("standard error %s", r.err)
	}
	t.Log(r.err)
}

// Cells cannot read the token of a session on several hosts. It is neither in the environment of
// their process nor in the environment of its parent.
func TestTokenOutOfReach(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	secret := strings.Repeat("9f3a7c1e", 4)
	h.env = append(h.env, "SYMMREPL_TOKEN="+secret)
	r := h.run(`import ("os"; "strings")
parent, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
own, _ := os.ReadFile("/proc/self/environ")
fmt.Println(err, len(parent) > 100, strings.Contains(string(parent)+string(own)+strings.Join(os.Environ(), " "), "9f3a7c1e"), strings.Contains(string(parent), "`+programVariable+"="+h.dir+`"))
`, "-n", "1", "--device", device())
	if r.out != "<nil> true false true\n" {
		t.Errorf("%+v", r)
	}
}
