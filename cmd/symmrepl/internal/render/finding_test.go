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
	const want = `<div class="symm-finding"><b>[0,1] race between ranks: element 5 of f32[64] of rank 0, allocated at cell[3]:1</b>` +
		`<div style="display:flex;flex-wrap:wrap;gap:6px;margin:6px 0">` +
		`<div style="border:2px solid #888888;border-radius:4px;padding:2px 8px">rank 0<div style="border-left:4px solid #d55e00;padding-left:4px">2. writes</div><div>▣ memory</div></div>` +
		`<div style="border:2px solid #888888;border-radius:4px;padding:2px 8px">rank 1<div style="border-left:4px solid #0072b2;padding-left:4px">1. reads</div></div>` +
		`<div style="border:1px dashed #888888;border-radius:4px;padding:2px 8px">rank 2</div></div>` +
		`<div style="display:flex;flex-wrap:wrap;gap:12px;margin:6px 0">` +
		`<div style="flex:1 1 320px;border-left:4px solid #0072b2;padding-left:8px;overflow-x:auto"><div>1. cell[3]:7:12: rank 1, kernel add, block [0 0 0], thread [5 0 0] and 63 more, reads 4 bytes (launched at cell[3]:12)</div>` +
		pre + `   7 │ total +<mark>=</mark> x&lt;y&gt;[threadIdx.x];</pre></div>` +
		`<div style="flex:1 1 320px;border-left:4px solid #d55e00;padding-left:8px;overflow-x:auto"><div>2. cell[3]:2: rank 0, kernel fill, block [0 0 0], thread [5 0 0], writes 256 bytes (in elements/fill.cu:20)</div></div></div>` +
		`<div>order: nothing orders them</div><div><b>repair: symm::barrier(h, 0) before line 7</b></div><div>the order of seed 3 shows it: --seed 3</div></div>`
	if got := FindingHTML(raceOfRanks, 3); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for name, c := range map[string]struct {
		change func(*session.Finding)
		size   int
		has    string
		lacks  string
	}{
		"of a large session, the ranks of the finding": {func(*session.Finding) {}, 64, ">rank 1<", ">rank 2<"},
		"of one rank, none":                            {func(*session.Finding) {}, 1, "race between ranks", "rank 0<div"},
		"text of ranks": {func(f *session.Finding) {
			f.Kind, f.Memory, f.Order, f.Repair = "<i>", "<i>\x1b", "<i>", "<i>"
			f.Accesses = []session.Access{{Op: "<i>", Kernel: "<i>", File: "<i>", Line: 1, Column: 2, Source: "<i>é"}}
		}, 2, "&lt;<mark>i</mark>&gt;é", "<i>"},
		"a character of two bytes": {func(f *session.Finding) { f.Accesses[0].Source, f.Accesses[0].Column = "«x", 1 }, 2, "<mark>«</mark>x", "�"},
		"of ranks that did the same": {func(f *session.Finding) {
			f.Accesses[0].Ranks, f.Also = []int{1, 2}, []string{"f32[64] of rank 1", "f32[64] of rank 0"}
		}, 4, `rank 2<div style="border-left:4px solid #0072b2;padding-left:4px">1. reads</div></div>` +
			`<div style="border:1px dashed #888888;border-radius:4px;padding:2px 8px">rank 3</div>`, "memory</div><div>▣"},
		"memory of each rank": {func(f *session.Finding) { f.Also = []string{"f32[64] of rank 1"} }, 2,
			`1. reads</div><div>▣ memory</div></div>`, "rank 2"},
		"again": {func(f *session.Finding) { f.Again = "In[3]" }, 2, "[0,1] again: ", "<div"},
	} {
		f := raceOfRanks
		f.Accesses = append([]session.Access(nil), f.Accesses...)
		c.change(&f)
		if got := FindingHTML(f, c.size); !strings.Contains(got, c.has) || strings.Contains(got, c.lacks) {
			t.Errorf("%s: %s has no %s, or has %s", name, got, c.has, c.lacks)
		}
	}
}
