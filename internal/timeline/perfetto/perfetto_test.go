package perfetto

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/timeline"
)

// example has two ranks: rank 1 comes late to a barrier, and each puts to the other by messages that
// overlap.
func example() *timeline.Timeline {
	op := func(track timeline.Track, name, at string, begin, took int64, call int) timeline.Slice {
		return timeline.Slice{Kind: timeline.Operation, Track: track, Name: name, At: at, Begin: begin, Took: took, Call: call}
	}
	barrier := func(begin, took int64) timeline.Slice {
		s := op(0, "barrier", "cell[3]:2", begin, took, 1)
		s.Group, s.Meets = "world", "world #1"
		return s
	}
	wait := timeline.Slice{Kind: timeline.Wait, Name: "wait", Begin: 1100, Took: 4000, Call: 1, Peers: []int{1}, Ended: []int{1},
		For: "the barrier on channel 0", Group: "world", Meets: "world #1"}
	kernel := timeline.Slice{Kind: timeline.Kernel, Name: "barrier", Begin: 1000, Took: 4200, Call: 1, Grid: []int{8, 2}, Block: []int{32}}
	message := func(begin, took int64, number uint64) timeline.Slice {
		return timeline.Slice{Kind: timeline.Message, Track: timeline.Network, Name: "put", Begin: begin, Took: took, Bytes: 4096,
			Peers: []int{1}, Sends: []string{timeline.Numbered(0, 1, number)}}
	}
	arrival := timeline.Slice{Kind: timeline.Arrival, Track: timeline.Network, Name: "put", Begin: 3000, Peers: []int{0},
		Awaits: []string{timeline.Numbered(0, 1, 2)}}
	replay := op(1, "Replay", "", 6000, 100, 2)
	replay.Replay = true
	cell := timeline.Slice{Kind: timeline.Cell, Track: timeline.Cells, Name: "cell[3]", Begin: 900, Took: 6000}
	call := timeline.Slice{Kind: timeline.Call, Track: timeline.Host, Name: "barrier", At: "cell[3]:2", Begin: 950, Took: 20, Call: 1}
	clock := timeline.Clock{Machine: "m", Resolution: 40}
	return timeline.Merge([]timeline.Rank{
		{Rank: 0, Source: "a test", Clock: clock,
			Slices: []timeline.Slice{barrier(1000, 4200), kernel, wait, message(1500, 1000, 1), message(1600, 2000, 2), replay, cell, call}},
		{Rank: 1, Host: 1, Source: "a test", Clock: clock, Slices: []timeline.Slice{barrier(5000, 150), arrival}},
	})
}

// described lists the slices of a file: "rank 0 on host 0/stream 0 barrier 1000-5200 in …".
func (f *file) described() (list []string) {
	for _, s := range f.slices[1:] {
		t := f.tracks[s.track]
		text := fmt.Sprintf("%s/%s %s: %s %d-%d", f.tracks[t.parent].name, t.name, s.category, s.name, s.begin, s.end)
		if s.parent >= 0 {
			text += " in " + f.slices[s.parent].name
		}
		for _, name := range []string{"line", "grid", "bytes", "waits for", "for"} {
			if v := s.args[name]; v != "" {
				text += fmt.Sprintf(" %s=%s", name, v)
			}
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

var exampleSlices = []string{
	"rank 0 on host 0/cells cell: cell[3] 900-6900",
	"rank 0 on host 0/host calls call: barrier 950-970 line=cell[3]:2",
	"rank 0 on host 0/network (2) message: put 1600-3600 bytes=4096",
	"rank 0 on host 0/network message: put 1500-2500 bytes=4096",
	"rank 0 on host 0/stream 0 kernel: barrier 1000-5200 in barrier grid=8,2",
	"rank 0 on host 0/stream 0 operation: barrier 1000-5200 line=cell[3]:2",
	"rank 0 on host 0/stream 0 wait: wait for 1 1100-5100 in barrier waits for=1 for=the barrier on channel 0",
	"rank 0 on host 0/stream 1 operation: Replay (graph) 6000-6100",
	"rank 1 on host 1/network arrival: put 3000-3000",
	"rank 1 on host 1/stream 0 operation: barrier 5000-5150 line=cell[3]:2",
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, example()); err != nil {
		t.Fatal(err)
	}
	f, err := read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := f.described(); !slices.Equal(got, exampleSlices) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(exampleSlices, "\n"))
	}
	if f.clock != 900 || f.primary != monotonic {
		t.Errorf("clock %d shows %d first", f.primary, f.clock)
	}
	var arrows []string
	for _, flow := range f.flows {
		a, b := f.slices[flow[0]], f.slices[flow[1]]
		arrows = append(arrows, fmt.Sprintf("%s %d > %s %d", a.name, a.begin, b.name, b.end))
	}
	slices.Sort(arrows)
	if want := []string{"barrier 5000 > wait for 1 5100", "put 1600 > put 3000"}; !slices.Equal(arrows, want) {
		t.Errorf("arrows %q, want %q", arrows, want)
	}
	header := f.slices[0]
	if header.name != "clock" || header.args["rank 1 within ns"] != "40" || header.args["note 1"] != "times on streams of rank 0-1: a test" {
		t.Errorf("%+v", header)
	}
	if got, want := f.tracks[root].description, strings.Join(example().Header(), "\n"); got != want {
		t.Errorf("the root's description is %q, want %q", got, want)
	}
}

// failing is a file on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteFails(t *testing.T) {
	if err := Write(failing{}, example()); err != os.ErrClosed {
		t.Errorf("error %v", err)
	}
}

// Whatever slices there are, a file has each with its times, in a track of its kind, and no reader
// finds fault with it.
func FuzzWrite(f *testing.F) {
	f.Add([]byte("one stream, some slices of it, and \xff names"))
	f.Add([]byte{0, 0, 10, 1, 0, 5, 10, 2, 0, 5, 2, 3, 0, 0, 0, 4, 1, 9, 9, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		var ranks [2][]timeline.Slice
		for n := 0; len(data) >= 4 && n < 200; n++ {
			s := timeline.Slice{Kind: timeline.Operation, Track: timeline.Track(data[0]%5) - 3, Name: string(data[:1]),
				Begin: int64(data[1]), Took: int64(data[2]), Bytes: int(data[3]), Call: n + 1}
			key := fmt.Sprint("signal ", data[3]%4)
			if data[3]%3 == 0 {
				s.Sends = []string{key}
			} else {
				s.Awaits = []string{key}
			}
			ranks[data[3]/128] = append(ranks[data[3]/128], s)
			data = data[4:]
		}
		clock := timeline.Clock{Machine: "m", Resolution: 1}
		tl := timeline.Merge([]timeline.Rank{{Rank: 0, Clock: clock, Slices: ranks[0]}, {Rank: 1, Clock: clock, Slices: ranks[1]}})
		var b bytes.Buffer
		if err := Write(&b, tl); err != nil {
			t.Fatal(err)
		}
		got, err := read(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		type seen struct {
			rank       int
			track      string
			begin, end uint64
			call       string
		}
		var written, want []seen
		for _, s := range got.slices[1:] {
			tr := got.tracks[s.track]
			name, _, _ := strings.Cut(tr.name, " (")
			rank := 0
			fmt.Sscanf(got.tracks[tr.parent].name, "rank %d", &rank)
			written = append(written, seen{rank, name, s.begin, s.end, s.args["call"]})
		}
		for i, r := range tl.Ranks {
			for _, s := range r.Slices {
				want = append(want, seen{i, s.Track.String(), uint64(s.Begin + tl.Zero), uint64(s.End() + tl.Zero), fmt.Sprint(s.Call)})
			}
		}
		less := func(a, b seen) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.call, b.call))
		}
		slices.SortFunc(written, less)
		slices.SortFunc(want, less)
		if !reflect.DeepEqual(written, want) {
			t.Errorf("%d slices are written as\n%v\nwant\n%v", len(want), written, want)
		}
	})
}

// Perfetto's own Python package reads a file: its trace processor answers SQL if it is there or can
// be downloaded, else its messages are parsed.
func TestPerfettoReads(t *testing.T) {
	python := os.Getenv("SYMMREPL_JUPYTER")
	if python == "" || exec.Command(python, "-c", "import perfetto").Run() != nil {
		t.Skip("SYMMREPL_JUPYTER names no Python with the package perfetto: make test installs it")
	}
	path := filepath.Join(t.TempDir(), "t.pftrace")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(out, example()); err != nil {
		t.Fatal(err)
	}
	out.Close()
	text, err := exec.Command(python, "testdata/read.py", path).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	var got struct {
		By       string
		Slices   []string
		Flows    []string
		Warnings []string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	t.Log("read by " + got.By)
	want := []string{
		"rank 0 on host 0/cells cell[3] 6000", "rank 0 on host 0/host calls barrier 20", "rank 0 on host 0/network (2) put 2000",
		"rank 0 on host 0/network put 1000",
		"rank 0 on host 0/stream 0 barrier 4200", "rank 0 on host 0/stream 0 barrier 4200",
		"rank 0 on host 0/stream 0 wait for 1 4000", "rank 0 on host 0/stream 1 Replay (graph) 100",
		"rank 1 on host 1/network put 0", "rank 1 on host 1/stream 0 barrier 150",
	}
	if !slices.Equal(got.Slices, want) {
		t.Errorf("slices\n%s\nwant\n%s", strings.Join(got.Slices, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{"barrier > wait for 1", "put > put"}; !slices.Equal(got.Flows, want) || len(got.Warnings) > 0 {
		t.Errorf("arrows %q, want %q; warnings %q", got.Flows, want, got.Warnings)
	}
}
