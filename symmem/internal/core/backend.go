package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/nvshmem"
)

// nvshmemBackend is the back end whose tensors are memory of NVSHMEM's heap.
const nvshmemBackend = "NVSHMEM"

// backend is the way in which a world makes symmetric memory, the same on all ranks.
type backend struct {
	name    string
	used    bool // a symmetric tensor was made
	session bool // cells choose it, not a program
	joining bool // this process replaces another one, and takes over the back end of the other ranks
}

// backendName is the name of the world's back end.
func (rt *Runtime) backendName() string {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.backend.name
}

// Backend returns the name of the back end that makes the memory of the group's symmetric tensors:
// "CUDA", "NCCL", "NVSHMEM" or "CPU". With NVSHMEM it returns "CUDA" for a group of fewer than all
// ranks.
func (g *Group) Backend() string {
	g.exists("Backend")
	return g.rt.backendOf(g.takesHeap())
}

// Backend returns the name of the back end that made the tensor's memory: "CUDA", "NCCL", "NVSHMEM"
// or "CPU". It returns "" if the memory is not symmetric.
func (t *Tensor) Backend() string {
	t.exists("Backend")
	if !t.Symmetric() {
		return ""
	}
	return t.rt.backendOf(t.st.alloc.inHeap())
}

// backendOf is the back end of memory of NVSHMEM's heap, or of other symmetric memory.
func (rt *Runtime) backendOf(inHeap bool) string {
	if name := rt.backendName(); name != nvshmemBackend || inHeap {
		return name
	}
	return "CUDA"
}

// refuseHeap refuses the back end NVSHMEM in a world that cannot have its heap.
func (rt *Runtime) refuseHeap(op, arg string) error {
	if why, hint := nvshmem.WhyNone(rt.places.Load(), rt.sharing().String()); why != "" {
		return rt.misuse(op, arg, hint, "the back end NVSHMEM cannot be used: %s", why)
	}
	return nil
}

// takesHeap reports whether Empty of the group takes memory of NVSHMEM's heap.
func (g *Group) takesHeap() bool { return g == g.rt.all && g.rt.backendName() == nvshmemBackend }

// inHeap reports whether the allocation is memory of NVSHMEM's heap.
func (a *allocation) inHeap() bool { return nvshmem.Holds(a.seg) }

// fix returns the advice for users who choose a back end too late.
func (b *backend) fix(name string) string {
	if b.session {
		return fmt.Sprintf("start with --backend %s, or call it first in a session", name)
	}
	return fmt.Sprintf("call it before the first Empty, or set Config.Backend to %s", name)
}

// SetBackend chooses the world's back end. find returns an error if this rank cannot use it. It is
// collective over all ranks.
func (in Inner) SetBackend(op, name string, find func() error) {
	rt := in.rt
	rt.hostCall(op)
	rt.all.usable(op)
	rt.mu.Lock()
	now, used := rt.backend.name, rt.backend.used
	rt.mu.Unlock()
	var failed error
	switch {
	case name == now:
	case used:
		failed = rt.misuse(op, "name", rt.backend.fix(name), "symmetric memory was made by %s already", now)
	default:
		if failed = find(); failed == nil && name == nvshmemBackend {
			failed = rt.refuseHeap(op, "name")
		}
	}
	g := rt.all
	g.meeting.Lock()
	_, err := gatherValues(g, op, name, struct{}{}, failed)
	g.meeting.Unlock()
	if err != nil {
		panic(rt.failure(op, err))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.backend.name = name
}

// compareBackends checks that the ranks of g, all that are left, have the same back end. A rank
// that joins takes over the back end of the others. The caller holds g.meeting.
func (rt *Runtime) compareBackends(op string, g *Group) error {
	type choice struct {
		Name    string
		Joining bool
	}
	rt.mu.Lock()
	mine := choice{rt.backend.name, rt.backend.joining}
	rt.mu.Unlock()
	all, err := gatherValues(g, op, "the back ends", mine, nil)
	if err != nil {
		return err
	}
	first := max(0, slices.IndexFunc(all, func(c choice) bool { return !c.Joining }))
	for i, c := range all {
		if c.Name != all[first].Name && !c.Joining {
			return &Error{Kind: KindMismatch, Op: op, Rank: rt.rank, Peer: g.ranks[i],
				Msg: fmt.Sprintf("rank %d makes symmetric memory by %s, and rank %d by %s", g.ranks[first], all[first].Name,
					g.ranks[i], c.Name),
				Hint: "give all ranks the same --backend, Config.Backend or TORCH_SYMMMEM"}
		}
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.backend.name, rt.backend.joining = all[first].Name, false
	return nil
}
