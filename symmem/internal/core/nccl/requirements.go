package nccl

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// Requirements is core's DevReqs: the resources of a communicator of NCCL's device API.
type Requirements struct {
	Barriers         int
	LsaBarriers      int
	WorldGinBarriers int
	RailGinBarriers  int
	GinSignals       int
	GinCounters      int
	GinContexts      int
	LLA2ABlocks      int
	LLA2ASlots       int
	Multimem         bool
	Resources        []int
}

// mostResources is the most of each resource, so that sizes stay far from overflowing.
const mostResources = 1 << 20

// number is a requirement by its name.
type number struct {
	name string
	n    int
}

// numbers lists the requirements that are numbers.
func (r *Requirements) numbers() []number {
	return []number{{"Barriers", r.Barriers}, {"LsaBarriers", r.LsaBarriers}, {"WorldGinBarriers", r.WorldGinBarriers},
		{"RailGinBarriers", r.RailGinBarriers},
		{"GinSignals", r.GinSignals}, {"GinCounters", r.GinCounters}, {"GinContexts", r.GinContexts},
		{"LLA2ABlocks", r.LLA2ABlocks}, {"LLA2ASlots", r.LLA2ASlots}}
}

// String lists the resources that are asked for: "{LsaBarriers: 16}".
func (r Requirements) String() string {
	var fields []string
	for _, f := range r.numbers() {
		if f.n != 0 {
			fields = append(fields, fmt.Sprintf("%s: %d", f.name, f.n))
		}
	}
	if r.Multimem {
		fields = append(fields, "Multimem: true")
	}
	if len(r.Resources) > 0 {
		fields = append(fields, "Resources: "+strings.ReplaceAll(fmt.Sprint(r.Resources), " ", ", "))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// Refused returns the first number that no communicator can have; nil if there is none.
func (r *Requirements) Refused() *Refusal {
	for _, f := range r.numbers() {
		if f.n < 0 || f.n > mostResources {
			return &Refusal{Msg: fmt.Sprintf("%s must be in [0, %d], not %d", f.name, mostResources, f.n)}
		}
	}
	for _, n := range r.Resources {
		if n < 0 {
			return &Refusal{Msg: fmt.Sprintf("a resource buffer must not have %d bytes", n)}
		}
	}
	return nil
}

// UsesGin reports whether GIN needs a network between hosts.
func (r *Requirements) UsesGin() bool {
	return r.WorldGinBarriers+r.RailGinBarriers+r.GinSignals+r.GinCounters > 0
}

// Team is this rank's place among those of a communicator.
type Team struct{ Rank, Ranks, LsaRank, LsaRanks, Hosts int }

// Placed is the layout of a communicator's resources, the same for all members. Handles count from
// the start of the pad, the handles in Buffers from the start of the data.
type Placed struct {
	Argument  abi.NcclDevComm // of kernels, as far as it follows from the requirements
	Pad, Data int             // bytes: of what Recover clears, and of buffers
	Buffers   []uint32        // handles of Resources
}

// Place places the resources. Where GIN is used and no number of contexts is given, there is one.
func (r *Requirements) Place(t Team) (p Placed, refused *Refusal) {
	at := 0
	place := func(bytes int) uint32 {
		if bytes > 1<<31 || at > 1<<33 {
			refused = &Refusal{Msg: "the resources take more than 8 GiB", Hint: "ask for less"}
			return 0
		}
		h := uint32(at / abi.NcclBufferUnit)
		at += (bytes + abi.NcclBufferUnit - 1) &^ (abi.NcclBufferUnit - 1)
		return h
	}
	barriers := func(n int) abi.NcclLsaBarrier {
		return abi.NcclLsaBarrier{BufHandle: place(8 * n * (1 + t.LsaRanks)), NBarriers: int32(n)}
	}
	a := &p.Argument
	*a = abi.NcclDevComm{Rank: int32(t.Rank), NRanks: int32(t.Ranks), LsaRank: int32(t.LsaRank), LsaSize: int32(t.LsaRanks)}
	a.LsaBarrier, a.HybridLsaBarrier = barriers(r.LsaBarriers), barriers(r.Barriers)
	a.LsaLLA2A = abi.NcclLLA2A{BufHandle: place(16 * r.LLA2ABlocks * (1 + 2*r.LLA2ASlots)), NSlots: uint32(r.LLA2ASlots),
		NBlocks: uint32(r.LLA2ABlocks)}
	if bytes := r.placeGin(a, t); refused == nil && bytes > 2<<30 {
		return p, &Refusal{Msg: "the signals take more than 2 GiB", Hint: "ask for less"}
	} else if r.GinContexts > 0 {
		a.GinBase = place(bytes)
	}
	p.Pad, at = at, 0
	for _, n := range r.Resources {
		p.Buffers = append(p.Buffers, place(n))
	}
	p.Data = at
	return p, refused
}

// placeGin numbers the signals of GIN, if any is asked for, and returns the bytes of the words of
// all contexts.
func (r *Requirements) placeGin(a *abi.NcclDevComm, t Team) (bytes int) {
	if r.GinContexts == 0 && (r.UsesGin() || r.Barriers > 0) {
		r.GinContexts = 1
	}
	if r.GinContexts == 0 {
		return 0
	}
	signals := r.GinSignals
	barriers := func(n, members int) abi.NcclGinBarrier {
		b := abi.NcclGinBarrier{Signal0: uint32(signals), NBarriers: int32(n)}
		signals += n * members
		return b
	}
	a.WorldGinBarrier, a.RailGinBarrier = barriers(r.WorldGinBarriers, t.Ranks), barriers(r.RailGinBarriers, t.Hosts)
	a.HybridRailGinBarrier, a.HybridWorldGinBarrier = barriers(r.Barriers, t.Hosts), barriers(r.Barriers, t.Ranks)
	a.GinContextCount, a.GinSignalCount, a.GinCounterCount, a.GinWords = uint32(r.GinContexts), int32(r.GinSignals),
		int32(r.GinCounters), uint32(signals)
	return 8 * (4*signals + 2*r.GinCounters) * r.GinContexts
}
