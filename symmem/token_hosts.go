package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/kernels/tokens"
)

// tokenHosts is the plan by which a switch of a group that spans hosts exchanges tokens:
// kernels/tokens/hosts.cuh.
type tokenHosts struct {
	rails  bool
	why    string
	places int                   // the most partners that any rank has
	args   tokens.TokenHostsArgs // the arguments that all calls have in common, but for Args
}

// tokenHostsOf finds the partners of this rank; it returns nil if the group is on one host. A
// config of high throughput goes by rails, if the hosts have as many members each.
func (c *TokenSwitchConfig) tokenHostsOf(rt *Runtime, g *Group) *tokenHosts {
	members, home := rt.core.Members(g)
	if len(members) == 1 {
		return nil
	}
	h := &tokenHosts{why: "low latency: nobody in between"}
	if c.Mode == "high_throughput" {
		h.rails = !slices.ContainsFunc(members, func(part []int) bool { return len(part) != len(members[0]) })
		h.why = "high throughput: a token crosses to a host once"
		if !h.rails {
			h.why = "the group has more ranks on one host than on another"
		}
	}
	at := slices.Index(members[home], g.Rank())
	for i := range h.args.Carrier {
		h.args.Carrier[i] = tokens.Nobody
	}
	for host, part := range members {
		if h.places = max(h.places, g.Size()-len(part)); h.rails {
			h.places = len(members) - 1
		}
		if host == home {
			h.args.Home = h.args.Partners
			continue
		}
		first := h.args.Partners
		for i, m := range part {
			if !h.rails {
				h.args.Carrier[m] = uint16(h.args.Partners)
				h.add(m, partnersBefore(members, host, home)+at)
				continue
			}
			h.args.Carrier[m], h.args.Relay[m] = uint16(first), uint16(members[home][i])
			if i == at {
				h.add(m, partnersBefore(members, host, home)/len(part))
			}
		}
	}
	if h.rails {
		h.args.Rails = 1
	}
	return h
}

// partnersBefore returns the number of members on other hosts that a rank of a host has before the
// members of the host `of`.
func partnersBefore(members [][]int, host, of int) (n int) {
	for i, part := range members[:of] {
		if i != host {
			n += len(part)
		}
	}
	return n
}

// add adds a partner.
func (h *tokenHosts) add(rank, place int) {
	h.args.Partner[h.args.Partners] = tokens.TokenPartner{Rank: uint16(rank), Place: uint16(place)}
	h.args.Partners++
}

// way is the way of tokens, for Explain.
func (h *tokenHosts) way() string {
	if h.rails {
		return "rails: puts to counterparts, which pass on,"
	}
	return "direct: puts"
}
