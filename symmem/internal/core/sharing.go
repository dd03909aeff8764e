package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Sharing lists the ranks of the world that use the same device.
type Sharing struct {
	Ranks  [][]int // by device, of those that several ranks use; nil if there is none
	Beside bool    // their kernels run side by side, by MPS; otherwise they take turns
}

// With lists the ranks that use the device of a rank, including the rank itself. It returns nil if no
// other rank uses the device, or if there is no such rank.
func (s Sharing) With(rank int) []int {
	if i := slices.IndexFunc(s.Ranks, func(ranks []int) bool { return slices.Contains(ranks, rank) }); i >= 0 {
		return slices.Clone(s.Ranks[i])
	}
	return nil
}

// Manner describes the execution of kernels of ranks that share a GPU: "in turns by time slices" or
// "side by side under MPS".
func (s Sharing) Manner() string {
	if s.Beside {
		return "side by side under MPS"
	}
	return "in turns by time slices"
}

// String is, for example, "ranks 0,1 share a GPU, in turns by time slices"; it is empty if no ranks
// share one.
func (s Sharing) String() string {
	switch len(s.Ranks) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("ranks %s share a GPU, %s", places.Joined(s.Ranks[0]), s.Manner())
	}
	return fmt.Sprintf("ranks %s share a GPU each, %s", places.Spelled(s.Ranks), s.Manner())
}

// Note is a sentence about the consequences of sharing for the user; it is empty if no ranks share
// a device.
func (s Sharing) Note() string {
	if len(s.Ranks) == 0 {
		return ""
	}
	most := 0
	for _, ranks := range s.Ranks {
		most = max(most, len(ranks))
	}
	means := "each rank uses its part of the multiprocessors"
	if !s.Beside {
		means = fmt.Sprintf("%d kernels that wait for each other meet in about %d ms", most, sliceTime(most))
	}
	return fmt.Sprintf("%v: %s; results are right, times are not comparable", s, means)
}

// sliceTime returns about the number of milliseconds that kernels of the ranks need to meet on a
// GPU that they use in turns: 2.2, 6.7 and 15.8 for 2, 4 and 8 ranks on an H200.
func sliceTime(ranks int) int { return max(2, (ranks-1)*9/4) }

// sharing lists the ranks of the world that use the same device: none while this rank joins.
func (rt *Runtime) sharing() Sharing { return sharingIn(rt.places.Load()) }

// Sharing lists the ranks of the world that use the same device: none while this rank joins.
func (in Inner) Sharing() Sharing { return in.rt.sharing() }

func sharingIn(p *places.Places) (s Sharing) {
	if p != nil {
		for _, ranks := range p.Sharing {
			s.Ranks = append(s.Ranks, slices.Clone(ranks))
		}
		s.Beside = p.Beside
	}
	return s
}

// findDevices finds out which devices can map each other's memory, and which ranks share one. It is
// collective over g, all ranks that are left.
func (rt *Runtime) findDevices(op string, p *places.Places, g *Group) error {
	mine, err := rt.dev.Place()
	if err == nil && mine.ID == "" {
		return nil
	}
	g.meeting.Lock()
	said, err := gatherValues(g, op, "the devices", mine, err)
	if err == nil {
		err = rt.compareBackends(op, g)
	}
	g.meeting.Unlock()
	if err != nil {
		return err
	}
	all := make([]device.Place, rt.size) // by rank
	for i, r := range g.ranks {
		all[r] = said[i]
	}
	if err := p.Divide(all, !rt.simulated()); err != nil {
		return &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: -1, Msg: err.Error(),
			Hint: "choose GPUs by CUDA_VISIBLE_DEVICES so that each can map the memory of all the others of a set, and of no other"}
	}
	return nil
}

// takeShare limits this rank to its share of a device that several ranks use. The share of memory is
// soft: a rank may take more. If kernels run side by side, the processors are shared as well, so that
// the blocks of kernels that wait for each other run at the same time.
func (rt *Runtime) takeShare(s Sharing) {
	n := len(s.With(rt.rank))
	if n == 0 {
		return
	}
	info := rt.dev.Info()
	info.WholeLines = false // known only for links between devices
	info.Memory /= uint64(n)
	if s.Beside {
		info.Processors = max(1, info.Processors/n)
		rt.crowded.Store(true)
	}
	rt.info = info
}

// onFabric reports whether members whose memory this rank maps are on other hosts.
func (g *Group) onFabric() bool {
	return slices.ContainsFunc(g.split.Here(), func(r int) bool { return g.rt.places.Load() != nil && !g.rt.sameHost(r) })
}

// sameHost reports whether a rank is on this one's host.
func (rt *Runtime) sameHost(rank int) bool { return rt.hostOf(rank) == rt.hostOf(rt.rank) }

// apart returns the reason why this rank does not map another rank's memory, for example "is on
// another host".
func (rt *Runtime) apart(rank int) string {
	if rt.sameHost(rank) {
		return fmt.Sprintf("has a GPU whose memory the GPU of rank %d cannot map", rt.rank)
	}
	return "is on another host"
}

// nearby names the members whose memory this rank maps.
func (g *Group) nearby() string {
	if p := g.rt.places.Load(); len(p.Parts) != len(p.Hosts) {
		return fmt.Sprintf("the ranks whose memory this one maps, which are %s: %s", places.Joined(g.split.Here()), g.lsaCall())
	}
	return fmt.Sprintf("the ranks of this host, which are %s: %s", places.Joined(g.split.Here()), g.lsaCall())
}

// partOf is the number of a rank's part of the world, and hostOf the number of its host.
func (rt *Runtime) partOf(rank int) int { return rt.places.Load().Part(rank) }
func (rt *Runtime) hostOf(rank int) int { return rt.places.Load().Host(rank) }

// sharesDevices reports whether two members use the same device.
func (g *Group) sharesDevices() bool {
	return slices.ContainsFunc(g.rt.sharing().Ranks, func(ranks []int) bool { return len(ranks)-len(others(ranks, g.ranks)) > 1 })
}
