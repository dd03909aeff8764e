// Package limits limits what code of cells may take: memory, stacks and time. Of the code it knows
// only whether any runs and how all of it is stopped.
//
// While code runs, each limit is checked every few milliseconds of processor time (limits.go,
// processortime.go), because endless recursion would end the process (stacklimit.go), and on a
// machine without memory (machinememory.go) the kernel would kill processes (memorylimit.go).
//
// A Deadline (deadline.go) is the time for which the runtime waits for code of cells.
package limits
