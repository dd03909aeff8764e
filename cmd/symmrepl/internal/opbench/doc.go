// Package opbench measures operations the way a user runs them, as cells of a session, beside what limits
// them and beside PyTorch and NCCL in the same run.
//
// The measured program is a cell file (allreduce.go.cell). It times back-to-back calls from the interpreted
// cell ("eager") and replays of a captured graph ("graph"), and measures the limits it is compared with: an
// empty kernel in a graph, a flag's round trip between two GPUs inside one kernel, and the rate of a large
// copy to a peer. The peers run in their own processes by torchrun, if there is a Python with torch. Every
// figure is the maximum over ranks of each rank's median.
package opbench
