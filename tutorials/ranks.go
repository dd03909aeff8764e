//go:build ignore

// Cells for some ranks: the other ranks wait until they end.
//
//	symmrepl run -n 4 tutorials/ranks.go

// %% Every rank has these variables.
rank := symm.Rank()
t := symm.Empty(symm.I32, 2)
h := symm.Rendezvous(t)
note := "nothing"

// %%rank [0]
h.Put(3, symm.Local(symm.I32, 2).CopyFrom([]int32{7, 8}))
h.PutSignal(3, 0)
note = "sent"
note

// %%rank [3]
h.WaitSignal(0, 0)
note = fmt.Sprint("got ", t.Ints())
t

// %%rank [1-2]
var unused int
fmt.Println("rank", rank, "has", len(h.BufferPtrs()), "peers")

// %%
note
