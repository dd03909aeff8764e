package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// NewCall begins a call of an operator on a group, by default g: it checks the options.
func (in Inner) NewCall(of *operators.Operator, g *Group, opts []Option) Call {
	return in.rt.newCall(of, g, opts)
}

// OwnCall is a call without options that concerns this rank alone.
func (in Inner) OwnCall(op string) Call { return in.rt.ownCall(op) }

// Usable refuses tensors that cannot be used any more, belong to another world, or are nil.
func (in Inner) Usable(op string, tensors ...*Tensor) { in.rt.usable(op, tensors...) }

// Misuse refuses a call that is not ordered on a stream. arg names the argument, "" for none.
func (in Inner) Misuse(op, arg, hint, format string, args ...any) *Error {
	return in.rt.misuse(op, arg, hint, format, args...)
}

// RefuseClosed refuses a call after the world was closed.
func (in Inner) RefuseClosed(op string) { in.rt.refuseClosed(op) }

// Failure turns an error of a lower part into one in the user's words.
func (in Inner) Failure(op string, err error) *Error { return in.rt.failure(op, err) }

// OpenFailure explains why a device could not be opened for a rank.
func OpenFailure(rank int, err error) *Error { return (&Runtime{rank: rank}).failure("Init", err) }

// NilArgument refuses a receiver or argument that is nil where no world is known.
func NilArgument(op, arg string) *Error { return nilArgument(op, arg) }

// HandleArgument returns the argument of a kernel for a handle, without the words of the call. It
// refuses a handle that cannot be used.
func (in Inner) HandleArgument(op string, h *Handle) abi.Handle {
	h.usable(op)
	if h.kernel.Net == 0 {
		h.g.reachAll(op, "")
	}
	if n := len(h.g.ranks); n > abi.MaxRanks {
		panic(in.rt.misuse(op, "handle", "Rendezvous in its LSA or Rail team",
			"a kernel takes handles of groups of at most %d ranks, %v has %d", abi.MaxRanks, h.g, n))
	}
	return h.kernel
}

// CommArgument returns the argument of a kernel for a communicator, without the words of the call.
// It refuses a communicator that cannot be used.
func (in Inner) CommArgument(op string, c *DeviceComm) abi.NcclDevComm {
	c.usable(op)
	return c.arg
}

// WindowArgument returns the argument of a kernel for a window. It refuses a window that cannot be
// used.
func (in Inner) WindowArgument(op string, w *DeviceWindow) device.Ptr {
	w.usable(op)
	return w.h.tables.window.pointer()
}

// MeetingBlocks is the most blocks of a kernel in which blocks of the same index of all members
// meet: the same on all members.
func (in Inner) MeetingBlocks(g *Group) int { return min(in.rt.plan.MeetBlocks, g.work.Processors) }

// Members lists the members of a group by host, as ranks of the group, and the number of this
// rank's host.
func (in Inner) Members(g *Group) (byHost [][]int, home int) { return g.split.Members, g.split.Home }

// Backend is the name of the world's back end.
func (in Inner) Backend() string { return in.rt.backendName() }

// Compiling notes that this rank waits for a compiler, until the function it returns is called.
func (in Inner) Compiling() (done func()) { return in.rt.compiling() }

// Calculated does Map or Reduce.
func (in Inner) Calculated(of *operators.Operator, formula string, args []any, reduces bool) *Tensor {
	return in.rt.calculated(of, formula, args, reduces)
}

// Named does an operation of the table of arithmetic. The first operand that is a tensor picks its
// formula.
func (in Inner) Named(name string, opts []Option, operands ...any) *Tensor {
	return in.rt.named(name, opts, operands...)
}

// Facts describes a world, for Caps, Doctor and Topology.
type Facts struct {
	Hosts       [][]int // the ranks by host
	Simulated   bool    // the hosts are
	Parts       [][]int // the ranks that map each other's memory; nil while this rank joins
	Between     string  // the network between hosts: "the null network", "UCX 1.22.0 on lo", or "nothing"
	Held        int     // bytes of device memory: tensors, memory kept for the next ones, and groups
	Tensors     int     // symmetric ones that are alive and whole
	TensorBytes int     // of their data on this rank
}

// Facts describes the world.
func (in Inner) Facts() Facts {
	rt := in.rt
	f := Facts{Simulated: rt.simulated(), Between: rt.between(), Held: rt.held()}
	if p := rt.places.Load(); p != nil {
		for _, host := range p.Hosts {
			f.Hosts = append(f.Hosts, slices.Clone(host))
		}
		for _, part := range p.Parts {
			f.Parts = append(f.Parts, slices.Clone(part))
		}
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, a := range rt.allocs {
		if a.stale.Load() == nil && !a.freed.Load() && !a.stands {
			f.Tensors, f.TensorBytes = f.Tensors+1, f.TensorBytes+a.size
		}
	}
	return f
}
