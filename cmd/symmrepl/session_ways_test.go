package main

import (
	"regexp"
	"strings"
	"testing"
)

// Commands that say how code runs, in the code of -e: a cell may begin with them.
func TestWays(t *testing.T) {
	h := newHome(t, 2)
	run := func(code string) string {
		t.Helper()
		r := h.run("", "--device", device(), "-n", "2", "-e", code)
		if r.status != 0 {
			t.Errorf("%s\nended with %d: %s", code, r.status, r.err)
		}
		return r.out
	}
	if out := run(":slow 1 2ms puts\n:slow"); strings.Count(out, "[0,1] the puts of rank 1 begin 2ms late\n") != 2 {
		t.Errorf("the setting is described as\n%s", out)
	}
	for code, want := range map[string]string{
		":time -n 3 symm.AllReduce(symm.Local(symm.I32, 8), \"sum\")":             `median of 3 runs on rank [01], the slowest`,
		":time -n 8 symm.Local(symm.I32, 8)\n%%\ntime.Sleep(20*time.Millisecond)": `times as long: a real difference, in 8 of 8 pairs`,
		":compare x := symm.Local(symm.I32, 8).Fill(2); symm.AllReduce(x, \"sum\")\n%%\nx := symm.Local(symm.I32, 8).Fill(2); x.Slice(symm.Rank(), 2).Fill(3); symm.AllReduce(x, \"sum\")": `code 2 .* differs: element 0 of i32\[8\].*, on rank 0: 5, not 4`,
	} {
		if out := run(code); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s\nprinted\n%s\nwant %s", code, out, want)
		}
	}
	uneven := ":compare symm.AllReduce(symm.Local(symm.I32, 8), \"sum\")\n%%\nif symm.Rank() == 1 { symm.Local(symm.I32, 8).Slice(3, 99) }; symm.AllReduce(symm.Local(symm.I32, 8), \"sum\")"
	if r := h.run("", "--device", device(), "-n", "2", "-e", uneven); r.status != 1 ||
		!strings.Contains(r.err, "Slice: [3, 99) is not within the first dimension of 8\n") {
		t.Errorf("code that one rank refuses ends with %d and\n%s", r.status, r.err)
	}
	loop := "for i := range 3 {\n\tsymm.Local(symm.I32, 8+i*0).Fill(1)\n\tsymm.AllReduce(symm.Local(symm.I32, 8), \"sum\")\n}\n"
	if out := h.run(loop+":why\n", "--device", device(), "-n", "1").out; strings.Count(out, ": all_reduce") > 2 ||
		strings.Count(out, ": Fill") > 2 || !strings.Contains(out, "on world (1 rank)") {
		t.Errorf(":why of a loop printed\n%s", out)
	}
	// :why names the line also after the code of the cell is gone.
	r := h.run("symm.AllReduce(symm.Local(symm.I32, 8), \"sum\");\n1+1\nruntime.GC()\n:why\nruntime.GC()\n:why 1\n", "--device", device(), "-n", "2")
	if strings.Count(r.out, "cell[1]:1: all_reduce i32[8] sum on world (2 ranks)") != 2 || !strings.Contains(r.out, "    way: ") {
		t.Errorf(":why printed\n%s%s", r.out, r.err)
	}
}
