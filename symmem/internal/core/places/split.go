package places

import "slices"

// Split is the members of a group, split by whose memory they map: by host, or by parts of hosts.
type Split struct {
	Parts   [][]int // as world ranks
	Members [][]int // the same, as ranks of the group
	Home    int     // the part that this rank is in

	rank int // this rank, in the world
}

// Split splits a group's ranks, which are ascending. rank is this rank. Where no places are known,
// all are in one part.
func (p *Places) Split(ranks []int, rank int) Split {
	s := Split{Parts: [][]int{ranks}, rank: rank}
	if p != nil {
		s.Parts = nil
		for _, all := range p.Parts {
			part := slices.DeleteFunc(slices.Clone(ranks), func(r int) bool { return !slices.Contains(all, r) })
			if slices.Contains(part, rank) {
				s.Home = len(s.Parts)
			}
			if len(part) > 0 {
				s.Parts = append(s.Parts, part)
			}
		}
	}
	for _, part := range s.Parts {
		var members []int
		for _, r := range part {
			members = append(members, slices.Index(ranks, r))
		}
		s.Members = append(s.Members, members)
	}
	return s
}

// Here lists the members on this rank's host, as world ranks.
func (s *Split) Here() []int { return s.Parts[s.Home] }

// Spans reports whether members are on several hosts.
func (s *Split) Spans() bool { return len(s.Parts) > 1 }

// Near reports whether a member, by its rank in the group, is on this rank's host.
func (s *Split) Near(i int) bool { return !s.Spans() || slices.Contains(s.Members[s.Home], i) }

// Even reports whether each host has as many members.
func (s *Split) Even() bool {
	return !slices.ContainsFunc(s.Parts, func(part []int) bool { return len(part) != len(s.Parts[0]) })
}

// Counterparts lists the members with this rank's index on each host, as world ranks.
func (s *Split) Counterparts() (ranks []int) {
	at := slices.Index(s.Here(), s.rank)
	for _, part := range s.Parts {
		ranks = append(ranks, part[at])
	}
	return ranks
}

// Partners lists the members of other hosts, as ranks of the group, that this rank meets in a
// barrier for its host: every two hosts have one such pair.
func (s *Split) Partners() (list []uint32) {
	at := slices.Index(s.Here(), s.rank)
	for i, part := range s.Members {
		if i != s.Home && i%len(s.Here()) == at {
			list = append(list, uint32(part[s.Home%len(part)]))
		}
	}
	return list
}
