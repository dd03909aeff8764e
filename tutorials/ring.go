//go:build ignore

// A ring of puts and signals: every rank passes the piece that it received to its right neighbour until each rank has
// seen all pieces, as in a ring all-gather.
//
//	symmrepl run -n 4 tutorials/ring.go

// %% Two slots, so that a rank can send from one while its left neighbour writes the other.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
slots := symm.Empty(symm.I32, 2, 2)
h := symm.Rendezvous(slots)
h

// %% Slot 0 begins with the rank's own piece.
slots.Slice(0, 1).CopyFrom([]int32{int32(rank), int32(10 * rank)})
h.Barrier(0)
slots.Ints()

// %% In every step each piece moves one rank to the right. The signal means that it has arrived, the barrier that all ranks have read their pieces.
seen := [][]int{slots.Slice(0, 1).Ints()}
for step := 1; step < size; step++ {
	mine := slots.Ints()
	piece := symm.Local(symm.I32, 2, 2).CopyFrom([]int32{
		int32(mine[0]), int32(mine[1]), int32(mine[0]), int32(mine[1]),
	})
	h.Barrier(0) // all ranks have read their slots
	h.Put(right, piece)
	h.PutSignal(right, 1)
	h.WaitSignal(left, 1)
	seen = append(seen, slots.Slice(0, 1).Ints())
}
seen

// %% Every rank has seen all pieces.
total := 0
for _, piece := range seen {
	total += piece[0] + piece[1]
}
total
