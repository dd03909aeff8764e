package places

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Places groups the ranks of a world by host, memory and device. All lists are of world ranks.
type Places struct {
	Hosts    [][]int // all ranks by host, a simulated one if there are such
	Machines int     // real hosts
	Parts    [][]int // all ranks by whose memory they map: the hosts, parts of them, or several
	Sharing  [][]int // for each device that several ranks use, these ranks; nil if there is none
	Beside   bool    // the kernels of such ranks run side by side, by MPS; otherwise they take turns
}

// On returns the places of ranks on these hosts, where all devices of a host map each other's
// memory. Simulated hosts are one machine.
func On(hosts [][]int, simulated bool) *Places {
	p := &Places{Hosts: hosts, Machines: len(hosts), Parts: hosts}
	if simulated {
		p.Machines = 1
	}
	return p
}

// Divide divides the ranks of each host into parts whose devices, devices[rank], map each other's
// memory, and finds the ranks that share a device. If fabrics is set, devices of one fabric map
// each other's memory between hosts. The error says why there are no such parts.
func (p *Places) Divide(devices []device.Place, fabrics bool) error {
	p.Parts = nil
	for _, host := range p.Hosts {
		parts, err := cliques(host, devices)
		if err != nil {
			return err
		}
		p.Parts = append(p.Parts, parts...)
	}
	slices.SortFunc(p.Parts, func(a, b []int) int { return a[0] - b[0] })
	if fabrics {
		p.Parts = joined(p.Parts, devices)
	}
	p.Sharing, p.Beside = sharing(devices)
	return nil
}

// Lose notes ranks that are gone: they count as one host more.
func (p *Places) Lose(gone []int) {
	if len(gone) > 0 {
		p.Hosts, p.Parts = append(slices.Clone(p.Hosts), gone), append(slices.Clone(p.Parts), gone)
	}
}

// Host is the number of a rank's host, and Part the number of its part.
func (p *Places) Host(rank int) int { return number(p.Hosts, rank) }
func (p *Places) Part(rank int) int { return number(p.Parts, rank) }

func number(parts [][]int, rank int) int {
	return slices.IndexFunc(parts, func(part []int) bool { return slices.Contains(part, rank) })
}

// joined joins the parts whose devices, devices[rank], are on the same fabric.
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

// cliques divides ranks into parts: devices of one part map each other's memory, and devices of
// different parts do not. The error says why there are no such parts.
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
			return nil, fmt.Errorf("the GPU of rank %d can map the memory of the GPUs of ranks %d and %d, which cannot map each other's", both, min(other, b), max(other, b))
		}
	}
	return parts, nil
}

// sharing finds the ranks that have the same device, and whether their kernels run side by side.
func sharing(devices []device.Place) (list [][]int, beside bool) {
	for rank, d := range devices {
		if d.ID == "" { // it is gone
			continue
		}
		first := slices.IndexFunc(devices, func(o device.Place) bool { return o.ID == d.ID })
		switch i := slices.IndexFunc(list, func(ranks []int) bool { return ranks[0] == first }); {
		case first == rank:
		case i < 0:
			list = append(list, []int{first, rank})
		default:
			list[i] = append(list[i], rank)
		}
		if first != rank {
			beside = d.Beside
		}
	}
	slices.SortFunc(list, func(a, b []int) int { return a[0] - b[0] })
	return list, beside
}
