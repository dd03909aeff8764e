// Package opbench measures operations the way a user runs them, as cells of a session, beside what limits
// them and beside PyTorch, NCCL and NVSHMEM in the same run.
//
// A table (ops.go) has for every operation the Go that makes its tensors and calls it; a cell is made of it for
// each size and run after those of bench.go.cell. It times back-to-back calls from the interpreted cell
// ("eager") and replays of a captured graph ("graph"). The limits they are compared with are measured first: an
// empty kernel in a graph, a flag's round trip between two GPUs inside one kernel, and the rate of copies to all peers
// at once, on GPUs also that of stores. The peers run before, in their own processes by torchrun, if there is a Python with torch. Every figure is
// the maximum over ranks of each rank's median. Each operation is printed as soon as it is measured, and drawn by package
// chart at the end.
//
// Overlap is a separate measurement: an all-gather beside a matrix product. So is TokenSwitch: the dispatch and the combine of tokens.
package opbench
