package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var manyRanks = flag.Bool("many", false, "run sessions of 64 and 72 ranks, which take a minute and 4 GiB")

// The sessions have more ranks than the arrays of a group once had room for. Every rank puts to a
// rank on another host, all ranks meet, and each host reduces.
func TestManyRanks(t *testing.T) {
	t.Parallel()
	const cells = `n := symm.WorldSize()
t := symm.Empty(symm.F32, 4).Fill(symm.Rank())
h := symm.Rendezvous(t)
h.Barrier(0) // all have filled theirs
h.PutWithSignal((symm.Rank()+n/2+1)%n, symm.Local(symm.F32, 4).Fill(100+symm.Rank()), 0, 1)
h.WaitForSignal(0, "==", 1)
h.Barrier(0)
symm.Synchronize()
int(t.Float32s()[3]) == 100+(symm.Rank()+n-n/2-1)%n
// %%
x := symm.Empty(symm.F32, 3000).Fill(1) // lines and pulls
symm.Rendezvous(x, symm.LSA())
symm.AllReduce(x, "sum", symm.LSA()).Float32s()[2999]
// %%
y := symm.Empty(symm.I32, 2).Fill(symm.LSA().Rank()) // packets
symm.Rendezvous(y, symm.LSA())
symm.AllGather(y, symm.LSA()).Ints()[2*symm.LSA().Rank()] == symm.LSA().Rank()
`
	runs := []struct {
		ranks, hosts int
		net          string
		long         bool
	}{{24, 4, "null", false}, {20, 1, "null", false}, {64, 8, "null", true}, {64, 8, "ucx", true}, {72, 1, "null", true}}
	for _, r := range runs {
		t.Run(fmt.Sprintf("%dranks/%dhosts/%s", r.ranks, r.hosts, r.net), func(t *testing.T) {
			if r.long && !*manyRanks {
				t.Skip("runs with -many only, as in make test-long")
			}
			if r.net == "ucx" && os.Getenv("SYMMREPL_UCX_LIB") == "" {
				t.Skip("needs UCX: SYMMREPL_UCX_LIB is not set")
			}
			h := newHome(t, r.ranks)
			file := filepath.Join(t.TempDir(), "many.go")
			if err := os.WriteFile(file, []byte(cells), 0o600); err != nil {
				t.Fatal(err)
			}
			h.env = append(h.env, "SYMMREPL_NET="+r.net, fmt.Sprintf("SYMMREPL_HOSTS=%d", r.hosts))
			got := h.run("", "run", "-n", fmt.Sprint(r.ranks), "--device", "cpu", file)
			all := fmt.Sprintf("[0-%d] ", r.ranks-1)
			var said []string // without the watchdog's remarks about slow cells
			for line := range strings.Lines(got.out) {
				if strings.Contains(line, "] true") || strings.Contains(line, "] "+fmt.Sprint(r.ranks/r.hosts)+"\n") {
					said = append(said, line)
				}
			}
			if want := all + "true\n" + all + fmt.Sprint(r.ranks/r.hosts) + "\n" + all + "true\n"; got.status != 0 ||
				strings.Join(said, "") != want {
				t.Errorf("%+v, want\n%s", got, want)
			}
		})
	}
}
