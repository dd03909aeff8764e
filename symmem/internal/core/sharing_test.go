package symmem

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/shortdir"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// placed is the cpu device at a place among others.
type placed struct {
	device.Device
	place device.Place
}

func (d placed) Place() (device.Place, error) { return d.place, nil }

// tokened is a segment of a fabric that the ranks of one process make up: its token names a
// descriptor.
type tokened struct {
	device.Segment
	fd int
}

func (d placed) NewSegment(n int) (device.Segment, error) {
	s, err := d.Device.NewSegment(n)
	if err != nil {
		return nil, err
	}
	fd, err := s.Export()
	return tokened{s, fd}, err
}

func (s tokened) Token() ([]byte, error) { return []byte(fmt.Sprint(s.fd)), nil }
func (s tokened) Close() error           { return errors.Join(s.Segment.Close(), unix.Close(s.fd)) }

func (d placed) ImportToken(token []byte, n int) (device.Segment, error) {
	owned, err := strconv.Atoi(string(token))
	if err != nil {
		return nil, err
	}
	fd, err := unix.FcntlInt(uintptr(owned), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return d.ImportSegment(fd, n)
}

// placesOf are devices of these IDs, with the IDs of those that each cannot map.
func placesOf(ids string, apart map[string]string) (list []device.Place) {
	for _, id := range strings.Fields(ids) {
		list = append(list, device.Place{ID: id, Apart: strings.Fields(apart[id])})
	}
	return list
}

// sharingOf returns the devices that ranks of one host share.
func sharingOf(t *testing.T, devices []device.Place) Sharing {
	t.Helper()
	ranks := make([]int, len(devices))
	for i := range ranks {
		ranks[i] = i
	}
	p := places.On([][]int{ranks}, false)
	if err := p.Divide(devices, false); err != nil {
		t.Fatal(err)
	}
	return sharingIn(p)
}

func TestSharing(t *testing.T) {
	for _, c := range []struct{ ids, want, words, note string }{
		{"a b c d", "[]", "", ""},
		{"a a", "[[0 1]]", "ranks 0,1 share a GPU, in turns by time slices",
			"ranks 0,1 share a GPU, in turns by time slices: 2 kernels that wait for each other meet in about 2 ms; results are right, times are not comparable"},
		{"a b a b c b", "[[0 2] [1 3 5]]", "ranks 0,2 and 1,3,5 share a GPU each, in turns by time slices",
			"ranks 0,2 and 1,3,5 share a GPU each, in turns by time slices: 3 kernels that wait for each other meet in about 4 ms; results are right, times are not comparable"},
		{"a b b c c a", "[[0 5] [1 2] [3 4]]", "ranks 0,5; 1,2 and 3,4 share a GPU each, in turns by time slices",
			"ranks 0,5; 1,2 and 3,4 share a GPU each, in turns by time slices: 2 kernels that wait for each other meet in about 2 ms; results are right, times are not comparable"},
	} {
		s := sharingOf(t, placesOf(c.ids, nil))
		if fmt.Sprint(s.Ranks) != c.want || s.String() != c.words || s.Note() != c.note {
			t.Errorf("GPUs %s: %v, %q, %q; want %s, %q, %q", c.ids, s.Ranks, s, s.Note(), c.want, c.words, c.note)
		}
	}
	s := sharingOf(t, []device.Place{{ID: "a", Beside: true}, {ID: "a", Beside: true}})
	if want := "ranks 0,1 share a GPU, side by side under MPS: each rank uses its part of the multiprocessors; results are right, times are not comparable"; s.Note() != want {
		t.Errorf("under MPS: %q, want %q", s.Note(), want)
	}
	if got := fmt.Sprint(s.With(1), s.With(2)); got != "[0 1] []" {
		t.Errorf("with rank 1 and with rank 2: %s", got)
	}
}

// together runs f on ranks of one process whose devices are at these places, with the null network,
// and returns what failed on each. A device "a/alone" is on a host of its own: nobody sees its
// folder.
func together(t *testing.T, list []device.Place, f func(rt *Runtime)) []error {
	t.Helper()
	return togetherOver(t, "null", list, f)
}

// togetherOver is together with another network.
func togetherOver(t *testing.T, network string, list []device.Place, f func(rt *Runtime)) []error {
	t.Helper()
	dir := shortdir.New(t)
	hub := bootstrap.NewHub(len(list))
	var all sync.WaitGroup
	failed := make([]error, len(list))
	for rank, place := range list {
		mine, theirs := net.Pipe()
		go hub.Serve(rank, theirs)
		folder := dir
		if strings.HasSuffix(place.ID, "/alone") {
			folder = filepath.Join(dir, "nowhere")
		}
		client, err := bootstrap.NewClient(mine, rank, len(list), folder, bootstrap.Parts{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := cpu.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer client.Close()
			rt, err := New(placed{d, place}, Config{Client: client, Plan: tuning.CPU, Name: "gpu", Network: network})
			if err != nil {
				d.Close()
				failed[rank] = err
				return
			}
			err = Maybe(func() { f(rt) })
			hub.Leave(rank, "has ended")
			failed[rank] = errors.Join(err, rt.Close())
		})
	}
	all.Wait()
	return failed
}

// noneFailed reports errors of ranks.
func noneFailed(t *testing.T, failed []error) {
	t.Helper()
	for rank, err := range failed {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestNoCliques: all ranks are told why they cannot be parted.
func TestNoCliques(t *testing.T) {
	for rank, err := range together(t, placesOf("a b c", map[string]string{"a": "c"}), func(rt *Runtime) {}) {
		want := fmt.Sprintf("Init on rank %d: the GPU of rank 1 can map the memory of the GPUs of ranks 0 and 2, which cannot map each other's "+
			"(choose GPUs by CUDA_VISIBLE_DEVICES so that each can map the memory of all the others of a set, and of no other)", rank)
		if err == nil || err.Error() != want {
			t.Errorf("rank %d: got %v, want %s", rank, err, want)
		}
	}
}

// TestShared: ranks that share a GPU work as others do, and count on their portion of it.
func TestShared(t *testing.T) {
	for _, beside := range []bool{false, true} {
		list := placesOf("a a b b b", nil)
		for i := range list {
			list[i].Beside = beside
		}
		noneFailed(t, together(t, list, func(rt *Runtime) {
			whole, n := rt.dev.Info(), uint64(2)
			if rt.rank > 1 {
				n = 3
			}
			processors := whole.Processors
			if beside {
				processors = max(1, processors/int(n))
			}
			if i := rt.info; i.Memory != whole.Memory/n || i.Processors != processors || i.WholeLines || rt.crowded.Load() != beside {
				t.Errorf("rank %d, beside %v: counts on %+v, crowded %v", rt.rank, beside, i, rt.crowded.Load())
			}
			if got := fmt.Sprint(rt.sharing(),
				Of(rt).Facts().Parts); got != fmt.Sprintf("ranks 0,1 and 2,3,4 share a GPU each, %s [[0 1 2 3 4]]", rt.sharing().Manner()) {
				t.Errorf("rank %d: %s", rt.rank, got)
			}
			h := rt.Rendezvous(rt.Empty(I32, 1).Fill(rt.rank))
			h.Barrier(0)
			next := (rt.rank + 1) % 5
			if got := h.GetBuffer(next, I32, 1).Ints(); got[0] != next {
				t.Errorf("rank %d: rank %d has %v", rt.rank, next, got)
			}
			h.Barrier(0)
			rt.Meet()
		}))
	}
}

// TestFabric: ranks of two hosts whose GPUs are on one fabric map each other's memory; a third host
// is reached by no network.
func TestFabric(t *testing.T) {
	list := placesOf("a b c/alone d/alone", nil)
	for r := range 3 {
		list[r].Fabric = "x/0"
	}
	fds := func() int { entries, _ := os.ReadDir("/proc/self/fd"); return len(entries) }
	before := fds()
	noneFailed(t, togetherOver(t, "none", list, func(rt *Runtime) {
		f := Of(rt).Facts()
		if got := fmt.Sprint(f.Hosts, f.Parts); got != "[[0 1] [2] [3]] [[0 1 2] [3]]" {
			t.Errorf("rank %d: hosts and parts: %s", rt.rank, got)
		}
		team := rt.all.LSA()
		x := rt.Empty(I32, 3).Fill(rt.rank)
		h := rt.Rendezvous(x, team)
		h.Barrier(0)
		for peer, r := range team.ranks {
			if got := h.GetBuffer(peer, I32, 3).Ints(); !reflect.DeepEqual(got, []int{r, r, r}) {
				t.Errorf("rank %d: rank %d has %v", rt.rank, r, got)
			}
		}
		h.Barrier(0)
		rt.Meet()
		x.Free()
		y := rt.Empty(I32, 1)
		pair := rt.NewGroup(1, 2) // of two hosts
		if pair.Rank() >= 0 {
			h := rt.Rendezvous(y, pair)
			h.PutSignal(1-h.Rank(), 0)
			h.WaitSignal(1-h.Rank(), 0)
			pair.meet("test", "", nil)
		}
		rt.Meet()
	}))
	if now := fds(); now != before {
		t.Errorf("%d descriptors are open, %d were before", now, before)
	}
}

// TestApart: GPUs of one host that cannot map each other's memory make LSA teams, between which the
// network carries.
func TestApart(t *testing.T) {
	noneFailed(t, together(t, placesOf("a b c d", map[string]string{"a": "c d", "b": "c d"}), func(rt *Runtime) {
		expect := func(what string, got, want any) {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("rank %d: %s: got %v, want %v", rt.rank, what, got, want)
			}
		}
		mine, across := []int{rt.rank &^ 1, rt.rank | 1}, (rt.rank+2)%4
		f := Of(rt).Facts()
		expect("hosts", fmt.Sprint(f.Hosts, f.Simulated, f.Parts), "[[0 1 2 3]] false [[0 1] [2 3]]")
		expect("between", rt.between(), "the null network")
		expect("LSA", rt.all.LSA().Ranks(), mine)
		expect("rail", rt.all.Rail().Ranks(), []int{rt.rank & 1, rt.rank&1 + 2})
		x := rt.Empty(I32, 4).Fill(rt.rank)
		h := rt.Rendezvous(x)
		for peer, p := range h.BufferPtrs() {
			expect(fmt.Sprint("a pointer to rank ", peer), p != 0, peer == mine[0] || peer == mine[1])
		}
		h.Barrier(0)
		h.PutWithSignal(across, rt.Local(I32, 4).Fill(10+rt.rank), 0, 1)
		h.WaitForSignal(0, "==", 1)
		expect("what came over the network", x.Ints(), []int{10 + across, 10 + across, 10 + across, 10 + across})
		h.PutSignal(across, 0)
		h.WaitSignal(across, 0)
		h.Barrier(0)
		beside := ((rt.rank ^ 1) + 2) % 4
		expect("the neighbour's memory", h.GetBuffer(rt.rank^1, I32, 4).Ints(), []int{10 + beside, 10 + beside, 10 + beside, 10 + beside})
		err := Maybe(func() { h.GetBuffer(across, I32, 4) })
		var refused *Error
		if !errors.As(err, &refused) || refused.Kind != KindMisuse || refused.Peer != across {
			t.Fatalf("rank %d: a pointer to rank %d gives %v", rt.rank, across, err)
		}
		expect("message", refused.Msg, fmt.Sprintf("rank %d has a GPU whose memory the GPU of rank %d cannot map, and world has no pointer to its memory", across, rt.rank))
		expect("hint", refused.Hint, fmt.Sprintf("Put and Get need none; or use the ranks whose memory this one maps, which are %d,%d: g.LSA()", mine[0], mine[1]))
		uneven := rt.NewGroup(0, 2, 3)
		if uneven.Rank() >= 0 {
			err := Maybe(func() { uneven.Rail() })
			if !errors.As(err, &refused) || refused.Msg != "group 0,2,3 has more members in one LSA team than in another: 0 and 2,3" {
				t.Errorf("rank %d: the rail of an uneven group gives %v", rt.rank, err)
			}
		}
		rt.Meet()
	}))
}
