package symmem

import (
	"context"
	"errors"
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/core/libraries"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A group's communicator as other code has it, by NCCL's pointer.

// Comm returns the group's communicator of NCCL as an ncclComm_t: an address in this process, for
// code that calls NCCL itself. The group makes the communicator if it has none yet, which is
// collective over the group, on the host; otherwise the call meets no other rank. The communicator
// belongs to the group, which uses it for calls by NCCL: other code must issue its own calls in the
// same order between them on all members, and must not end it. The address is valid until Recover,
// a call that was given up, or Free of the group; Comm then returns another.
//
// It is refused where there is no NCCL, as on the cpu device, with the reason, and while a graph is
// captured if the group has no communicator yet.
func (g *Group) Comm() uintptr {
	const op = "Comm"
	g.exists(op)
	g.usable(op)
	d := g.ncclDevice(op)
	g.rt.mu.Lock()
	comm, capturing := g.comms[byKernels], g.rt.capture != nil
	g.rt.mu.Unlock()
	if comm == nil {
		if capturing {
			panic(g.rt.misuse(op, "", "call Comm once before the capture",
				"%v has no communicator of NCCL yet, and none can be made while a graph is captured", g))
		}
		g.rt.hostCall(op)
		if err := g.join(op, d, byKernels); err != nil {
			panic(g.rt.failure(op, err))
		}
		g.rt.mu.Lock()
		comm = g.comms[byKernels]
		g.rt.mu.Unlock()
	}
	if p := comm.C.Pointer(); p != 0 && !comm.isEnded() {
		return p
	}
	panic(&Error{Kind: KindPeer, Op: op, Rank: g.rt.rank, Peer: -1, Msg: fmt.Sprintf("the communicator of %v was ended", g),
		Hint: "all ranks must call Recover"})
}

// AdoptComm makes the group use a communicator that was made elsewhere in this process: comm is an
// ncclComm_t of the same NCCL library, as nccl4py, PyTorch or C code has it. Calls of the group by
// NCCL, as with Via("NCCL"), then go by it. It is collective over the group, on the host; each
// member gives its own communicator, in which it must have the rank that it has in the group, on
// the same GPU.
//
// The group never destroys the communicator, and stops using it with Recover or with its own Free;
// from then on it makes its own again. Until then the code that made it must not destroy it, and
// must issue calls in the same order between those of the group on all members. If a call of the
// group by it has to be given up, ncclCommRevoke stops the call, and the communicator can then only
// be destroyed.
//
// It is refused for a group that has a communicator already, for a communicator that a group has,
// for a library without ncclCommRevoke, and with the back end NCCL, whose communicators have
// windows of tensors.
func (g *Group) AdoptComm(comm uintptr) {
	const op = "AdoptComm"
	g.exists(op)
	g.usable(op)
	rt, d := g.rt, g.ncclDevice(op)
	if rt.backendName() == ncclBackend {
		panic(rt.misuse(op, "", "start with another --backend", "the back end is NCCL, whose communicators have windows of tensors"))
	}
	rt.hostCall(op)
	if rt.hasComm(g, byKernels) {
		panic(rt.misuse(op, "group", "adopt one before the group's first call by NCCL, or for a group of your own",
			"%v has a communicator of NCCL already", g))
	}
	if err := g.adopt(op, d, comm); err != nil {
		panic(rt.failure(op, err))
	}
}

// ncclDevice returns the device if it has NCCL, and refuses others.
func (g *Group) ncclDevice(op string) device.CollectiveDevice {
	d, ok := g.rt.dev.(device.CollectiveDevice)
	if !ok {
		panic(g.rt.misuse(op, "", "start with --device cuda, or use AllReduce and its neighbours, which need no NCCL",
			"NCCL needs the cuda device, this is %s", g.rt.name))
	}
	return d
}

// adopt makes a communicator at an address the group's own. It is collective over the group, on the
// host.
func (g *Group) adopt(op string, d device.CollectiveDevice, p uintptr) error {
	rt := g.rt
	library, err := d.Collectives(rt.collectivesSettings())
	if un := (*device.UnavailableError)(nil); errors.As(err, &un) {
		err = &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: -1, Msg: "there is no NCCL: " + un.Why, Hint: un.Hint}
	}
	g.meeting.Lock()
	defer g.meeting.Unlock()
	if err == nil {
		why := library.Fits(p, g.rank, len(g.ranks))
		for _, c := range rt.comms.All() {
			if p != 0 && c.C.Pointer() == p {
				why = fmt.Errorf("it is the communicator of %v already", c.g)
			}
		}
		if why != nil {
			err = rt.misuse(op, "comm", "give this rank's ncclComm_t of a communicator with the ranks of the group", "comm cannot be adopted: %v", why)
		}
	}
	if _, failed := gatherValues(g, op, "adopt", struct{}{}, err); failed != nil {
		return failed
	}
	ctx, cancel := context.WithTimeout(rt.host(), libraries.Limit)
	defer cancel()
	done := rt.waitOnHost(op, g, g.met)
	c, err := library.Adopt(ctx, p, g.rank, len(g.ranks))
	done()
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the members of %v did not meet in the communicator within %v: do all of them give the same one?", g, libraries.Limit)
	}
	comm := &communicator{g: g, sort: byKernels}
	comm.Communicator = nccl.New(library.Name(), c, comm)
	return g.keep(ctx, op, comm, err)
}
