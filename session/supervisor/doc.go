// Package supervisor keeps the workers of a rank, one after the other. It runs no user code, so it
// survives them, and it lives in the process that the user or a launcher has started: that of the
// controller for the ranks of its host, or one of its own.
//
// When the controller asks for a worker, the supervisor ends the previous one, connects to the hub, and
// starts this program again with settings, descriptors and memory (process.go, package inherit). Jobs go
// to the worker through one pipe, and the answers come through another (jobs.go); all other commands and
// events share a socket (hearing.go). Before the end of a cell is passed on, all that the worker has
// printed and sent before is.
//
// Standard output and standard error of the worker are pipes, read in the order in which it has written
// to them (pipes.go); the supervisor finds the place at which a run begins (begin.go), and holds text back
// that may be the report of a crash (crash.go).
//
// The supervisor sees the end of its worker and its cause: the exit status or the signal, and whether the
// kernel had run out of memory; the first line of the report of Go's runtime, which goes to a file as a
// whole; and the place in the cell, from the shared memory. It reports that at once, before the process is
// reaped, and ends what the worker has left: its process group, all processes that carry its mark in
// their environment, and its sockets (leftovers.go).
package supervisor
