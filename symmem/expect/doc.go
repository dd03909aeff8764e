// Package expect compares what kernels have written with formulas. A case in a cell or a program makes
// tensors, launches kernels with them, and says what the tensors should hold then:
//
//	ts := expect.New()
//	ts.Symmetric("x", symm.F32, "rank + i", 1000)
//	ts.Local("out", symm.F32, "", 1000)
//	k.Launch(symm.Grid(4), symm.Block(256), ts.Handle("x"), ts.Tensor("out"), 1000)
//	err := ts.Equal("out", "rank_sum(x)")
//	ts.Free()
//
// Every rank runs the same calls in the same order, as with all collective calls of symmem.
//
// # Formulas
//
// Package [formula] describes formulas. The names in them are the tensors of the set, with the values
// that these held first, before any kernel: the values of their fills. They are calculated on the
// host for all ranks and never read back, so a kernel that overwrites its input is compared with
// what the input was. A fill may name the tensors that were made before.
//
// # Reading
//
// Equal and Close wait until the work of all ranks is over, read this rank's tensor, and let no rank
// go on before all have read: a put of a peer that is still under way is waited for, and the next
// kernel of a peer does not change what is being read. The meetings also order the reads for the
// sanitizer. Nothing else needs a barrier before them.
//
// # Errors
//
// A set panics with a *symmem.Error of KindMisuse for a name that it does not have, and for a fill
// that is wrong, with the *formula.Error or *formula.EvalError as its cause; kernels that failed are
// reported as everywhere. Equal and Close return what is wrong with their own arguments, and a
// [*Difference].
package expect
