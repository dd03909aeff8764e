package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/core/libraries"

// meetToJoin lets the members meet before they join a library, for desc: mine is this one's account of
// it, unless failed. It returns the ID by which they join. It is collective over the group, on the host;
// the caller holds g.meeting.
func (g *Group) meetToJoin(op, desc string, k libraries.Kind, mine libraries.Member, failed error) (id []byte, err error) {
	all, err := gatherValues(g, op, desc, mine, failed)
	if err != nil {
		return nil, err
	}
	r := k.Compare(all, g.ranks)
	if r == nil {
		return all[0].ID, nil
	}
	e := &Error{Kind: KindSystem, Op: op, Rank: g.rt.rank, Peer: g.ranks[r.Member], Msg: r.Msg, Hint: r.Hint}
	if r.Lost {
		e.Kind = KindPeer
	}
	return nil, e
}
