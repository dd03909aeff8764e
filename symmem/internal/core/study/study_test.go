package study

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// hosts is a world of two hosts with two ranks each, and group the group of all of them.
type hosts struct{}

func (hosts) Caller() int           { return 7 }
func (hosts) HostOf(rank int) int   { return rank / 2 }
func (hosts) Between() string       { return "ucx" }
func (hosts) Backend() string       { return "CPU" }
func (hosts) Device() device.Device { return struct{ device.Device }{} }

type group struct {
	seam.Members
	split places.Split
}

func (*group) String() string         { return "world" }
func (*group) Ranks() []int           { return []int{0, 1, 2, 3} }
func (g *group) Split() *places.Split { return &g.split }

func put(peer int) *seam.Sight {
	at := &places.Places{Parts: [][]int{{0, 1}, {2, 3}}}
	g := &group{split: at.Split([]int{0, 1, 2, 3}, 0)}
	return &seam.Sight{Entry: calls.Entry{Made: calls.Made{Op: operators.Put.Name}, Manner: operators.Communicating}, Group: g,
		Route: seam.Route{Way: "to", Peer: peer, Bytes: 64}}
}

// A call with a route has its way from the places of the members, and a call that chose has its choice.
func TestExplaining(t *testing.T) {
	e := &Explaining{World: hosts{}}
	e.Issued(put(1))
	e.Issued(put(3))
	staged := put(1)
	staged.Staged = 32
	e.Chose(staged, 64, &tuning.Way{Path: "packets", Why: "they are few"})
	for i, want := range []string{
		"put on world (4 ranks, 64 bytes): loads and stores, because the memory of rank 1 is mapped here",
		"put on world (4 ranks, 64 bytes): ring and messages over ucx, because rank 3 is on host 1, whose memory is not mapped here",
		"put on world (4 ranks, 64 bytes): packets, of a copy in symmetric memory, because they are few; 32 bytes of ordinary memory are copied",
	} {
		if got := e.List[i].String(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// Why remembers the latest cells, and the first calls of each.
func TestWhy(t *testing.T) {
	w := &Why{World: hosts{}}
	for cell := range whyCells + 1 {
		w.BeginCell(cell + 1)
		for range whyCalls + cell {
			w.Admitted(put(3))
			w.Ran("net_put", false)
			w.Issued(put(3))
		}
	}
	if list, more := w.Explained(1); list != nil || more != 0 {
		t.Errorf("of a cell of long ago it remembers %d calls", len(list))
	}
	list, more := w.Explained(0)
	if len(list) != whyCalls || more != whyCells {
		t.Fatalf("of the latest cell it remembers %d calls and %d more", len(list), more)
	}
	got := fmt.Sprint(list[0].Call, list[0].Caller, " ", strings.Join(list[0].Details, "; "))
	const want = "put on world (4 ranks)7 way: ring and messages over ucx, because rank 3 is on host 1, whose memory is not mapped here " +
		"(64 bytes); kernels: net_put, loaded before; back end: CPU"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
