package nccl

import (
	"testing"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// Resources follow each other in multiples of a unit: barriers, low-latency slots and GIN in the
// pad, buffers in the data.
func TestPlace(t *testing.T) {
	r := Requirements{LsaBarriers: 2, Barriers: 1, LLA2ABlocks: 1, LLA2ASlots: 4, GinSignals: 3, Resources: []int{100, 300}}
	p, refused := r.Place(Team{Rank: 1, Ranks: 4, LsaRank: 1, LsaRanks: 2, Hosts: 2})
	if refused != nil {
		t.Fatal(refused)
	}
	unit := func(n int) int { return (n + abi.NcclBufferUnit - 1) / abi.NcclBufferUnit }
	lsa, hybrid, slots, gin := unit(8*2*3), unit(8*3), unit(16*9), unit(8*4*(3+2+4))
	a := p.Argument
	if a.LsaBarrier.BufHandle != 0 || int(a.HybridLsaBarrier.BufHandle) != lsa || int(a.LsaLLA2A.BufHandle) != lsa+hybrid ||
		int(a.GinBase) != lsa+hybrid+slots {
		t.Errorf("handles are %d, %d, %d, %d", a.LsaBarrier.BufHandle, a.HybridLsaBarrier.BufHandle, a.LsaLLA2A.BufHandle, a.GinBase)
	}
	if a.HybridRailGinBarrier.Signal0 != 3 || a.HybridWorldGinBarrier.Signal0 != 5 || a.GinWords != 9 || r.GinContexts != 1 {
		t.Errorf("the signals of GIN are %+v, with %d contexts", a, r.GinContexts)
	}
	if p.Pad != (lsa+hybrid+slots+gin)*abi.NcclBufferUnit || p.Data != (unit(100)+unit(300))*abi.NcclBufferUnit || int(p.Buffers[1]) != unit(100) {
		t.Errorf("placed are %d and %d bytes, buffers at %v", p.Pad, p.Data, p.Buffers)
	}
	if got, want := r.String(), "{Barriers: 1, LsaBarriers: 2, GinSignals: 3, GinContexts: 1, LLA2ABlocks: 1, LLA2ASlots: 4, Resources: [100, 300]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRefusedRequirements(t *testing.T) {
	for want, r := range map[string]Requirements{
		"Barriers must be in [0, 1048576], not -1":         {Barriers: -1},
		"GinContexts must be in [0, 1048576], not 1048577": {GinContexts: mostResources + 1},
		"a resource buffer must not have -8 bytes":         {Resources: []int{-8}},
		"the resources take more than 8 GiB":               {Resources: []int{1<<31 + 1}},
		"the signals take more than 2 GiB":                 {GinSignals: mostResources, GinContexts: 1 << 10},
	} {
		got := r.Refused()
		if got == nil {
			_, got = r.Place(Team{Ranks: 2, LsaRanks: 2, Hosts: 1})
		}
		if got == nil || got.Msg != want {
			t.Errorf("got %v, want %q", got, want)
		}
	}
}

func TestIncludesHeader(t *testing.T) {
	for text, want := range map[string]struct {
		includes bool
		cannot   string
	}{
		"__global__ void f() {}": {},
		"#include <nccl_device.h>\n__global__ void f() { ncclLsaBarrierSession s; }": {true, ""},
		" # include \"nccl.h\"\n__global__ void f() { ncclGin g; }": {true,
			"it uses ncclGin, and with NCCL's own kernels have the barriers and pointers of the LSA team"},
		"#include <nccl.h>\n__global__ void f() { ncclTeamInnerFactor(x); ncclLsaBarrierSession s; }": {true,
			"it uses ncclTeamInnerFactor, and NCCL's own has the barriers of the whole LSA team alone"},
		"#include <nccl.h>\n__global__ void f() { ncclTeamInnerFactor(x); }": {true, ""},
	} {
		if includes, cannot := IncludesHeader(text); includes != want.includes || cannot != want.cannot {
			t.Errorf("%s: got %v, %q", text, includes, cannot)
		}
	}
}

// A list forgets the communicators that have ended.
func TestList(t *testing.T) {
	l, o := &library{}, &owner{}
	a, b := New("NCCL 2", l, o), New("NCCL 2", l, o)
	var list List[*Communicator]
	list.Add(a)
	list.Add(b)
	a.End(nil)
	if ended := list.TakeEnded(); len(ended) != 1 || ended[0] != a || len(list.All()) != 1 {
		t.Errorf("ended are %v, left %v", ended, list.All())
	}
	list.GiveUp()
	if ended, _ := b.Ended(); !ended {
		t.Error("the other is not given up")
	}
}
