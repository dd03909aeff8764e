package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Places
//
// A rank loads from and stores to the memory of the ranks of its part of the world: those of its host, or of them those whose devices can map each
// other's memory. GPUs on one NVLink fabric map each other's memory also between hosts: their ranks are one part, unless hosts are simulated. Several
// ranks of a host may use one device; it is then within their own reach.

// places is where the ranks of the world are. It does not change.
type places struct {
	hosts    [][]int // all ranks by host, a simulated one if there are such
	machines int     // real hosts
	parts    [][]int // all ranks by whose memory they map: the hosts, parts of them, or several
	sharing  Sharing
}

// Sharing tells which ranks of the world use the same device.
type Sharing struct {
	Ranks  [][]int // by device, of those that several ranks use; nil if there is none
	Beside bool    // their kernels run side by side, by MPS; otherwise they take turns
}

// With lists the ranks that use the device of a rank, itself among them; nil if it has one of its own, and for
// numbers of no rank.
func (s Sharing) With(rank int) []int {
	if i := slices.IndexFunc(s.Ranks, func(ranks []int) bool { return slices.Contains(ranks, rank) }); i >= 0 {
		return slices.Clone(s.Ranks[i])
	}
	return nil
}

// Manner says how the kernels of ranks that share a GPU run: "in turns by time slices" or "side by side under MPS".
func (s Sharing) Manner() string {
	if s.Beside {
		return "side by side under MPS"
	}
	return "in turns by time slices"
}

// String says who shares, and how: "ranks 0,1 share a GPU, in turns by time slices"; it is empty if nobody does.
func (s Sharing) String() string {
	switch len(s.Ranks) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("ranks %s share a GPU, %s", Joined(s.Ranks[0]), s.Manner())
	}
	return fmt.Sprintf("ranks %s share a GPU each, %s", Spelled(s.Ranks), s.Manner())
}

// Note is a sentence about what sharing means for the user; it is empty if nobody shares.
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

// sliceTime is about how many milliseconds kernels of so many ranks need to meet on a GPU that they use in turns: 2.2, 6.7 and 15.8 for 2, 4 and 8 on an
// H200.
func sliceTime(ranks int) int { return max(2, (ranks-1)*9/4) }

// SharingOf tells which ranks of the world use the same device: none, while this rank joins.
func SharingOf(rt *Runtime) (s Sharing) {
	if p := rt.places.Load(); p != nil {
		for _, ranks := range p.sharing.Ranks {
			s.Ranks = append(s.Ranks, slices.Clone(ranks))
		}
		s.Beside = p.sharing.Beside
	}
	return s
}

// Parts lists the ranks of the world by whose memory they map; nil while this rank joins.
func Parts(rt *Runtime) (parts [][]int) {
	if p := rt.places.Load(); p != nil {
		for _, part := range p.parts {
			parts = append(parts, slices.Clone(part))
		}
	}
	return parts
}

// findDevices parts the ranks of hosts by what their devices can map, and finds out which share one. It is collective over g, all ranks that are left.
func (rt *Runtime) findDevices(op string, p *places, g *Group) error {
	p.parts = p.hosts
	mine, err := rt.dev.Place()
	if err == nil && mine.ID == "" {
		return nil
	}
	g.meeting.Lock()
	said, err := agree(g, op, "the devices", mine, err)
	if err == nil {
		err = rt.agreeBackend(op, g)
	}
	g.meeting.Unlock()
	if err != nil {
		return err
	}
	all := make([]device.Place, rt.size) // by rank
	for i, r := range g.ranks {
		all[r] = said[i]
	}
	p.parts = nil
	for _, host := range p.hosts {
		parts, err := cliques(host, all)
		if err != nil {
			return &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: -1, Msg: err.Error(), Hint: "choose GPUs by CUDA_VISIBLE_DEVICES so that each can map the memory of all the others of a set, and of no other"}
		}
		p.parts = append(p.parts, parts...)
	}
	slices.SortFunc(p.parts, func(a, b []int) int { return a[0] - b[0] })
	if !rt.simulated() {
		p.parts = joined(p.parts, all)
	}
	p.sharing = sharingOf(all)
	return nil
}

// joined makes one part of those whose devices, devices[rank], are on the same fabric.
func joined(parts [][]int, devices []device.Place) (list [][]int) {
	of := map[string]int{} // where the part of a fabric is in list
	for _, part := range parts {
		fabric := devices[part[0]].Fabric
		if slices.ContainsFunc(part, func(r int) bool { return devices[r].Fabric != fabric }) {
			fabric = ""
		}
		if i, ok := of[fabric]; ok && fabric != "" {
			list[i] = slices.Sorted(slices.Values(slices.Concat(list[i], part)))
			continue
		}
		of[fabric] = len(list)
		list = append(list, part)
	}
	return list
}

// cliques parts ranks by what their devices, devices[rank], can map: those of a part map each other's memory, and those of different parts do not. The
// error says why there are no such parts.
func cliques(ranks []int, devices []device.Place) (parts [][]int, err error) {
	reach := func(a, b int) bool {
		return !slices.Contains(devices[a].Apart, devices[b].ID) && !slices.Contains(devices[b].Apart, devices[a].ID)
	}
	part := map[int]int{}
	for _, r := range ranks {
		if _, done := part[r]; done {
			continue
		}
		var members []int
		for _, p := range ranks {
			if _, done := part[p]; !done && reach(r, p) {
				part[p] = len(parts)
				members = append(members, p)
			}
		}
		parts = append(parts, members)
	}
	for i, a := range ranks {
		for _, b := range ranks[i+1:] {
			if reach(a, b) == (part[a] == part[b]) {
				continue
			}
			both, other := parts[part[a]][0], a // what both reaches cannot reach each other
			if part[a] < part[b] {
				both, other = a, parts[part[a]][0]
			} else if part[a] > part[b] {
				both, other, b = b, parts[part[b]][0], a
			}
			return nil, fmt.Errorf("the GPU of rank %d can map the memory of those of ranks %d and %d, which cannot map each other's", both, min(other, b), max(other, b))
		}
	}
	return parts, nil
}

// sharingOf finds the ranks that have the same device.
func sharingOf(devices []device.Place) (s Sharing) {
	for rank, d := range devices {
		if d.ID == "" { // it is gone
			continue
		}
		first := slices.IndexFunc(devices, func(o device.Place) bool { return o.ID == d.ID })
		switch i := slices.IndexFunc(s.Ranks, func(ranks []int) bool { return ranks[0] == first }); {
		case first == rank:
		case i < 0:
			s.Ranks = append(s.Ranks, []int{first, rank})
		default:
			s.Ranks[i] = append(s.Ranks[i], rank)
		}
		if first != rank {
			s.Beside = d.Beside
		}
	}
	slices.SortFunc(s.Ranks, func(a, b []int) int { return a[0] - b[0] })
	return s
}

// divide leaves this rank its portion of a device that others use too: of the memory, of which each may take more, and where kernels run side by side of
// the processors, so that the blocks of kernels that wait for each other are all there at once.
func (rt *Runtime) divide(s Sharing) {
	n := len(s.With(rt.rank))
	if n == 0 {
		return
	}
	info := rt.dev.Info()
	info.WholeLines = false // which links between devices are known for
	info.Memory /= uint64(n)
	if s.Beside {
		info.Processors = max(1, info.Processors/n)
		rt.crowded.Store(true)
	}
	rt.info = info
}

// onFabric reports whether members whose memory this rank maps are on other hosts.
func (g *Group) onFabric() bool {
	return slices.ContainsFunc(g.here(), func(r int) bool { return g.rt.places.Load() != nil && !g.rt.sameHost(r) })
}

// sameHost reports whether a rank is on this one's host.
func (rt *Runtime) sameHost(rank int) bool { return rt.hostOf(rank) == rt.hostOf(rt.rank) }

// apart says why this rank does not map another one's memory: it "is on another host".
func (rt *Runtime) apart(rank int) string {
	if rt.sameHost(rank) {
		return fmt.Sprintf("has a GPU whose memory that of rank %d cannot map", rt.rank)
	}
	return "is on another host"
}

// nearby names the members whose memory this rank maps.
func (g *Group) nearby() string {
	if p := g.rt.places.Load(); len(p.parts) != len(p.hosts) {
		return fmt.Sprintf("the ranks whose memory this one maps, which are %s: %s", Joined(g.here()), g.lsaCall())
	}
	return fmt.Sprintf("the ranks of this host, which are %s: %s", Joined(g.here()), g.lsaCall())
}

// partOf is the number of a rank's part of the world.
func (rt *Runtime) partOf(rank int) int {
	return slices.IndexFunc(rt.places.Load().parts, func(part []int) bool { return slices.Contains(part, rank) })
}
