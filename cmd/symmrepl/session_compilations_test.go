package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
)

// The session names a long compilation once. It prints nothing else about it, not even about ranks
// that wait for it.
func TestCompilationsAreNamed(t *testing.T) {
	if device() != "cpu" {
		t.Skip("only the cpu device compiles with the C++ compiler")
	}
	compiler, err := exec.LookPath("c++")
	if err != nil {
		t.Skip(err)
	}
	h := newHome(t, 2)
	slow := filepath.Join(h.dir, "slow-c++")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\ncase \" $* \" in *' - '*) sleep 10;; esac\nexec "+compiler+" \"$@\"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "SYMMREPL_CXX="+slow)
	const kernel = "k := symm.Compile(`__global__ void k(float* x) { x[threadIdx.x] = %d; }`)\n"
	for i, test := range []struct{ cell, want string }{
		{fmt.Sprintf(kernel, 3), `^\[0,1\] cell 1 has run for (\S+) s \(Ctrl-C interrupts it\):
\[0,1\]   rank 0,1  compiles a kernel \(slow-c\+\+\) at cell\[1\]:1, for (\S+) s
$`},
		{"t := symm.Empty(symm.F32, 4).Fill(1); symm.Rendezvous(t)\nif symm.Rank() == 0 {\n" + fmt.Sprintf(kernel,
			4) + "_ = k\n}\nsymm.AllReduce(t, \"sum\").Float32s()\n", `^\[0,1\] cell 1 has run for (\S+) s and waits \(Ctrl-C interrupts it\):
\[0,1\]   rank 0  compiles a kernel \(slow-c\+\+\) at cell\[1\]:3, for (\S+) s
\[0,1\]   rank 1  waits in .*all_reduce.* #1 at cell\[1\]:6 for rank 0: .*, for (\S+) s
$`},
	} {
		t.Run(fmt.Sprint("cell ", i+1), func(t *testing.T) {
			t.Parallel()
			r := h.run("", "-n", "2", "--device", "cpu", "-e", test.cell)
			said := regexp.MustCompile(test.want).FindStringSubmatch(r.err)
			if r.status != 0 || said == nil {
				t.Fatalf("status %d, said\n%s", r.status, r.err)
			}
			for i, text := range said[1:] { // the times of the cell, the compilation and the wait for it
				seconds, err := strconv.ParseFloat(text, 64)
				most, least := 5+pace.Unhurried(time.Second).Seconds(), 5.0
				if i == 2 { // the ranks come to this line one after the other
					least -= pace.Unhurried(time.Second / 2).Seconds()
				}
				if err != nil || seconds < least || seconds > most {
					t.Errorf("%s s, want %.1f to %.1f: %s", text, least, most, r.err)
				}
			}
		})
	}
}
