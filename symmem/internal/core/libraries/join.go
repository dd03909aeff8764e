package libraries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symmrepl/symmrepl/internal/errkind"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Limits of the time that members take.
const (
	Limit   = 2 * time.Minute  // to join
	Ending  = 10 * time.Second // to end what they have joined
	Parting = 3 * time.Second  // to wait for the others before a world is closed
)

// Library is an open library.
type Library interface {
	Name() string           // with its version: "NCCL 2.28.9"
	NewID() ([]byte, error) // by which members that join find each other
}

// Member is a member's account of its library.
type Member struct {
	Joined  bool   `json:",omitempty"` // it has joined before, and goes on with what it has
	Lost    string `json:",omitempty"` // the reason for which it cannot go on with that
	Library string // its name; empty if there is none
	Why     string // the reason why there is none
	Hint    string // what to do then
	ID      []byte // of the first member
}

// Open opens a member's library. The first member makes the ID for all. A device without the library is
// no error: the other members learn of it.
func Open[L Library](open func() (L, error), first bool) (library L, m Member, err error) {
	library, err = open()
	var un *device.UnavailableError
	switch {
	case errors.As(err, &un):
		m.Why, m.Hint, err = un.Why, un.Hint, nil
	case err == nil:
		m.Library = library.Name()
		if first {
			m.ID, err = library.NewID()
		}
	}
	return library, m, err
}

// Kind is a library that ranks join.
type Kind struct {
	Name    string // "NCCL", also in the names of its variables
	Where   string // where it must be the same: "on all hosts"
	Without string // what to do if members cannot go on with it
}

// Compare returns the reason for which members cannot join together, nil if they can. ranks are the
// world ranks of the members.
func (k Kind) Compare(all []Member, ranks []int) *seam.Refusal {
	for i, m := range all {
		switch {
		case m.Lost != "" || m.Joined != all[0].Joined:
			return &seam.Refusal{Kind: errkind.Peer, Peer: ranks[i], Hint: k.Without,
				Msg: k.Name + " cannot go on: " + cmp.Or(m.Lost, "not all ranks have joined it")}
		case m.Why != "":
			return &seam.Refusal{Kind: errkind.System, Peer: ranks[i], Hint: m.Hint,
				Msg: fmt.Sprintf("rank %d has no %s: %s", ranks[i], k.Name, m.Why)}
		case m.Library != all[0].Library:
			return &seam.Refusal{Kind: errkind.System, Peer: ranks[i],
				Hint: fmt.Sprintf("set SYMMREPL_%s to the same version %s", k.Name, k.Where),
				Msg:  fmt.Sprintf("rank %d has %s, and rank %d has %s", ranks[0], all[0].Library, ranks[i], m.Library)}
		}
	}
	return nil
}

// Meet lets the members meet before they join, for desc: mine is this one's account of its library,
// unless failed. It returns the ID by which they join. The caller holds the lock of the group.
func (k Kind) Meet(g seam.Members, op, desc string, mine Member, failed error) (id []byte, err error) {
	all, err := seam.Gather(g, op, desc, mine, failed)
	if err != nil {
		return nil, err
	}
	if r := k.Compare(all, g.Ranks()); r != nil {
		return nil, r
	}
	return all[0].ID, nil
}

// Late returns the error of a library that members have tried to join. One that took longer than Limit
// says where to look.
func (k Kind) Late(err error, library, of string) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s did not connect the ranks of %s within %v; %s_DEBUG=INFO tells more", library, of, Limit, k.Name)
}
