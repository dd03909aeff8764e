//go:build ignore

// One-shot all-reduce: every rank reads all copies and combines them itself.
//
//	symmrepl run -n 4 tutorials/reduce.go

// %% The input is symmetric memory, the result ordinary memory.
rank := symm.Rank()
x := symm.Empty(symm.F32, 8).Fill(rank + 1)
symm.Rendezvous(x)
symm.OneShotAllReduce(x, "sum")

// %% Other reductions and other types. Small numbers are exact in all of them.
for _, op := range []string{"sum", "avg", "max", "min"} {
	fmt.Println(op, symm.OneShotAllReduce(x, op).Float32s()[0])
}

// %%
half := symm.Empty(symm.BF16, 4).Arange()
symm.Rendezvous(half)
symm.OneShotAllReduce(half, "sum").Float32s()

// %% Into an existing tensor, several times: nothing is allocated.
out := symm.Local(symm.F32, 8)
for range 3 {
	symm.OneShotAllReduceOut(x, "sum", out)
}
out.Float32s()

// %% Any length works.
odd := symm.Empty(symm.I32, 5).Arange()
symm.Rendezvous(odd)
symm.OneShotAllReduce(odd, "max").Ints()
