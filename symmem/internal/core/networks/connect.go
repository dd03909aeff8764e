package networks

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/symmrepl/symmrepl/internal/errkind"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// introduction describes a rank's end of the network to the other ranks.
type introduction struct {
	Arch    string
	Device  string
	Address []byte
	Secret  uint64 // the first rank's counts
	Why     string // the rank has no engine; empty if it has
}

// Meet returns the gate. It is collective over g: no member opens its engine, or publishes its
// address, before all know the secret.
func Meet(g seam.Members, op string) (Gate, error) {
	g.Lock()
	defer g.Unlock()
	all, err := seam.Gather(g, op, "the gate of the network", NewReport(), nil)
	if err != nil {
		return Gate{}, err
	}
	return GateOf(all), nil
}

// Introduce lets the members of g exchange the addresses of their engines. n is this rank's, or nil
// with the reason why there is none; kind is the kind of its device. If a member has no engine, why says
// so, and it is an error unless the choice is to have none. The caller holds g's lock.
func (c Choice) Introduce(g seam.Members, op string, n *Network, failed error, gate Gate, kind string, simulated bool) (why string, err error) {
	mine := introduction{Arch: runtime.GOARCH, Device: kind}
	if n != nil {
		n.Engine.Admit(gate.Secret)
		mine.Address, mine.Secret = n.Engine.Address(), n.Secret
	} else {
		mine.Why = failed.Error()
		if e := (*net.Error)(nil); errors.As(failed, &e) {
			mine.Why = e.Why
		}
	}
	all, err := seam.Gather(g, op, "the network", mine, nil)
	ranks := g.Ranks()
	if err == nil {
		err = sameKind(ranks, all)
	}
	for i, peer := range all {
		if peer.Why != "" && why == "" {
			why = fmt.Sprintf("rank %d has no network: %s", ranks[i], peer.Why)
		}
	}
	if err == nil && why != "" && c != None {
		hint := "--net none, or SYMMREPL_NET=none, does without one: groups then stay within hosts"
		if simulated && c != "null" {
			hint = "--net null, or SYMMREPL_NET=null, needs no library between simulated hosts; " + hint
		}
		err = &seam.Refusal{Kind: errkind.System, Peer: -1, Msg: why, Hint: hint}
	}
	if err != nil || why != "" {
		return why, err
	}
	n.Secret, n.Peers = all[0].Secret, map[int][]byte{}
	for i, peer := range all {
		n.Peers[ranks[i]] = peer.Address
	}
	return "", nil
}

// sameKind refuses members whose device or architecture is not that of the first: their memory may not
// mean the same.
func sameKind(ranks []int, all []introduction) error {
	for i, peer := range all {
		if peer.Arch != all[0].Arch || peer.Device != all[0].Device {
			return &seam.Refusal{Kind: errkind.Mismatch, Peer: ranks[i],
				Msg: fmt.Sprintf("rank %d runs on %s (%s), rank %d on %s (%s)", ranks[0], all[0].Device, all[0].Arch,
					ranks[i], peer.Device, peer.Arch),
				Hint: "run all ranks on devices of one kind and processors of one architecture"}
		}
	}
	return nil
}
