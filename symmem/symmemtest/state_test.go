package symmemtest

import "github.com/symmrepl/symmrepl/symmem"

// stateCase checks what State says of streams, groups, signals and words of pads, and what Memory
// says of tensors.
func stateCase(t *T) {
	x := symmem.Empty(symmem.I32, 4)
	h := symmem.Rendezvous(x)
	local := symmem.Local(symmem.I32, 4)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	t.equal("symmetric", x.Memory(), "symmetric")
	t.equal("a part", x.Slice(1, 2).Memory(), "symmetric")
	t.equal("ordinary", local.Memory(), "ordinary")
	stream := symmem.NewStream()
	h.PutSignal(right, 3)
	h.PutWithSignal(right, local, 5, uint64(70+t.rank))
	h.Barrier(0)
	symmem.Synchronize()
	s := t.rt.State()
	t.equal("streams", s.Streams, []symmem.StreamState{{ID: 0, Rests: true}, {ID: 1, Rests: true}})
	t.equal("locked", s.Locked, false)
	world := s.Groups[0]
	t.equal("world", world.Name, "world")
	t.equal("members", world.Ranks, symmem.World().Ranks())
	t.equal("channels", world.Channels, symmem.World().Channels())
	t.equal("last", world.Last, "barrier")
	t.equal("signals", world.Signals, []symmem.SignalState{{From: left, Channel: 3}})
	t.equal("words", s.Words, []symmem.WordState{{Tensor: "i32[4]", Word: 5, Value: uint64(70 + left)}})
	h.WaitSignal(left, 3)
	h.ResetSignal(5)
	symmem.Synchronize()
	s = t.rt.State()
	t.equal("signals after the wait", s.Groups[0].Signals, []symmem.SignalState(nil))
	t.equal("words after the reset", s.Words, []symmem.WordState(nil))
	h.Barrier(0)
	symmem.Synchronize()
	stream.Free()
	local.Free()
	t.equal("freed", local.Memory(), "freed")
	x.Free()
}
