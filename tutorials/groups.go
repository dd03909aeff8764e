//go:build ignore

// Groups: some ranks communicate among themselves, with separate signals.
//
//	symmrepl run -n 4 tutorials/groups.go

// %% Every rank creates every group, including groups that it does not belong to.
rank := symm.Rank()
even, odd := symm.NewGroup(0, 2), symm.NewGroup(1, 3)
mine := even
if rank%2 == 1 {
	mine = odd
}
mine

// %% A reduction in a group combines only the members' copies.
t := symm.Empty(symm.F32, 4).Fill(rank + 1)
ours := symm.Rendezvous(t, mine)
symm.OneShotAllReduce(t, "sum", mine).Float32s()

// %% A handle uses the group's rank numbers: the other member is 1 or 0.
other := 1 - ours.Rank()
ours.PutSignal(other, 0)
ours.WaitSignal(other, 0)
ours.GetBuffer(other, symm.F32, 4).Float32s()

// %% The world is a group too.
symm.Rendezvous(t)
symm.OneShotAllReduce(t, "sum").Float32s()
