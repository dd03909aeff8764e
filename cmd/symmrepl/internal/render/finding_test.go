package render

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

var raceOfRanks = session.Finding{
	Kind: "race between ranks", Ranks: []int{0, 1}, Memory: "element 5 of f32[64] of rank 0, allocated at cell[3]:1",
	Accesses: []session.Access{
		{Rank: 1, Op: "reads", Bytes: 4, Kernel: "add", At: "cell[3]:12", File: "cell[3]", Line: 7, Column: 12,
			Source: "    total += x<y>[threadIdx.x];", Thread: [3]int{5}, Threads: 64},
		{Rank: 0, Op: "writes", Bytes: 256, Kernel: "fill", At: "cell[3]:2", File: "elements/fill.cu", Line: 20, Column: 5,
			Thread: [3]int{5}, Threads: 1},
	},
	Order: "nothing orders them", Repair: "symm::barrier(h, 0) before line 7", Seed: 3,
}

func TestFinding(t *testing.T) {
	again := raceOfRanks
	again.Again = "In[3]"
	for _, c := range []struct {
		name    string
		finding session.Finding
		want    string
	}{
		{"race", raceOfRanks, `
[0,1] race between ranks: element 5 of f32[64] of rank 0, allocated at cell[3]:1
[0,1]   cell[3]:7:12: rank 1, kernel add, block [0 0 0], thread [5 0 0] and 63 more, reads 4 bytes (launched at cell[3]:12)
[0,1]     total += x<y>[threadIdx.x];
[0,1]            ^
[0,1]   cell[3]:2: rank 0, kernel fill, block [0 0 0], thread [5 0 0], writes 256 bytes (in elements/fill.cu:20)
[0,1]     order: nothing orders them
[0,1]     repair: symm::barrier(h, 0) before line 7
[0,1]     the order of seed 3 shows it: --seed 3
`},
		{"host", session.Finding{Kind: "race with the host", Ranks: []int{2}, Accesses: []session.Access{
			{Rank: 2, Op: "reads", Bytes: 1, At: "cell[4]:3", File: "cell[4]", Line: 3, Column: 1, Source: "x.Float32s()"},
			{Rank: 1, Op: "writes", Bytes: 64, Kernel: "copy", At: "cell[4]:1", File: "cell[4]", Line: 1, Column: 3,
				Source: "h.Put(right, y)"},
		}}, `
[2] race with the host
[2]   cell[4]:3:1: rank 2, the host, reads 1 byte
[2]     x.Float32s()
[2]     ^
[2]   cell[4]:1:3: rank 1, a copy of a stream, writes 64 bytes
[2]     h.Put(right, y)
[2]       ^~~
`},
		{"allowed", session.Finding{Kind: "race in a block", Ranks: []int{0, 1, 2, 3}, Allowed: "cell[2]:9: all write the same"},
			"\n[0-3] race in a block, allowed by the comment at cell[2]:9: all write the same\n"},
		{"again", again, "\n[0,1] again: race between ranks, as in In[3], at cell[3]:7:12 and cell[3]:2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, err strings.Builder
			New(&out, &err, 4, false).Reply(session.Reply{Findings: []session.Finding{c.finding}})
			if got := "\n" + err.String(); got != c.want || out.Len() > 0 {
				t.Errorf("got%s\nwant%s", got, c.want)
			}
		})
	}
}

func TestFindingHTML(t *testing.T) {
	const want = `<details><summary><b>[0,1] race between ranks: element 5 of f32[64] of rank 0, allocated at cell[3]:1</b></summary><pre>` +
		`  cell[3]:7:12: rank 1, kernel add, block [0 0 0], thread [5 0 0] and 63 more, reads 4 bytes (launched at cell[3]:12)
    total += x&lt;y&gt;[threadIdx.x];
           ^
  cell[3]:2: rank 0, kernel fill, block [0 0 0], thread [5 0 0], writes 256 bytes (in elements/fill.cu:20)
    order: nothing orders them
<b>    repair: symm::barrier(h, 0) before line 7</b>
    the order of seed 3 shows it: --seed 3
</pre></details>`
	if got := FindingHTML(raceOfRanks, 4); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
