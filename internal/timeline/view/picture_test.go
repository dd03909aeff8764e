package view

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/symmrepl/symmrepl/internal/timeline"
)

// update writes the pictures of docs/timeline.md.
var update = flag.Bool("update", false, "write the pictures of docs/timeline.md")

// overlapped is a step of an expert layer on four ranks and two hosts, in a model of lesson 15: rank 2
// has more tokens than the others, which wait for it in combine; the next dispatch overlaps with the
// matrices on another stream.
func overlapped() *timeline.Timeline {
	var records []timeline.Rank
	clock := timeline.Clock{Machine: "m", Resolution: 40}
	for r := range 4 {
		call := 0
		var list []timeline.Slice
		add := func(track timeline.Track, name, kernel, at string, begin, took int64) *timeline.Slice {
			call++
			op := slice(timeline.Operation, track, name, begin, took, call)
			op.At, op.Group = at, "world"
			k := op
			k.Kind, k.Name, k.Grid, k.Block = timeline.Kernel, kernel, []int{64, 1, 1}, []int{256, 1, 1}
			list = append(list, op, k)
			return &list[len(list)-2]
		}
		wait := func(of timeline.Slice, begin, took int64, by int, why string) {
			w := of
			w.Kind, w.Name, w.Begin, w.Took, w.Peers, w.Ended, w.For = timeline.Wait, "wait", begin*ms, took*ms, []int{by}, []int{by}, why
			list = append(list, w)
		}
		work := []int64{30, 34, 58, 32}[r]
		dispatch := add(0, "dispatch", "token_dispatch", "cell[4]:2", int64(r), 12)
		dispatch.Meets = "world #1"
		if r < 3 {
			wait(*dispatch, int64(r)+8, 4-int64(r), 3, "tokens")
		}
		add(0, "matmul", "gemm_experts", "cell[4]:3", 13+int64(r), work)
		next := add(1, "dispatch", "token_dispatch", "cell[4]:5", 16+int64(r), 14)
		next.Meets = "world #2"
		end := 13 + int64(r) + work
		combine := add(0, "combine", "token_combine", "cell[4]:7", end, max(73-end, 6)+6)
		combine.Meets = "world #3"
		if r != 2 {
			wait(*combine, end+3, 73-end-3, 2, "results for tokens")
		}
		if r/2 == 0 {
			m := slice(timeline.Message, timeline.Network, "put and signal", end, 9, call)
			m.Bytes, m.Peers, m.Sends = 1<<20, []int{r + 2}, []string{timeline.Numbered(r, r+2, 1)}
			list = append(list, m)
		} else {
			a := slice(timeline.Arrival, timeline.Network, "put and signal", 13+int64(r-2)+[]int64{30, 34}[r-2]+9, 1, 0)
			a.Bytes, a.Peers, a.Awaits = 1<<20, []int{r - 2}, []string{timeline.Numbered(r-2, r, 1)}
			list = append(list, a)
		}
		host := slice(timeline.Call, timeline.Host, "Synchronize", end+1, max(78-end, 6), 0)
		list = append(list, host)
		records = append(records, timeline.Rank{Rank: r, Host: r / 2, Source: "a model", Clock: clock, Slices: list})
	}
	return timeline.Merge(records)
}

// The pictures of docs/timeline.md are those that the package draws: go test -update writes them.
func TestPicturesOfDocs(t *testing.T) {
	for name, theme := range map[string]Theme{"light": Light, "dark": Dark} {
		path := filepath.Join("../../../docs/pictures", "timeline-"+name+".svg")
		got := SVG(overlapped(), theme)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || string(want) != got {
			t.Errorf("%s is not the picture that is drawn (%v): go test ./internal/timeline/view -update", path, err)
		}
	}
}
