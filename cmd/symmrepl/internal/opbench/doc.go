// Package opbench measures operations as a user runs them, in cells of a session, beside their
// limits and beside PyTorch, NCCL and NVSHMEM in the same run.
//
// A table (ops.go) has for every operation the Go that makes its tensors and calls it. For each
// size, a cell is made of it, which runs after the cells of bench.go.cell. The cell times
// back-to-back calls from the interpreter ("eager"), in a loop as a user writes it, and replays of a
// captured graph ("graph"). The limits are measured first: an empty kernel in a graph, a flag's
// round trip between two GPUs inside one kernel, and the rate of copies to all peers at once, on
// GPUs also of stores. The peers run before, in their own processes under torchrun, if there is a
// Python with torch. Every figure is the maximum over ranks of each rank's median. Each operation is
// printed as soon as it is measured, and drawn by package chart at the end.
//
// Overlap is a separate measurement: an all-gather beside a matrix product. So is TokenSwitch: the
// dispatch and the combine of tokens. And so is Tensors: calculations on one device.
package opbench
