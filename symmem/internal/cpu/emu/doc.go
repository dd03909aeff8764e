//go:build linux && amd64

// Package emu runs CUDA kernels on the host's processor. It is the C++ half of the cpu device and does not
// compile.
//
// A launch is put into a stream's queue and taken out by the stream's own thread, its executor. The
// executor runs the grid's blocks one after the other; when that takes long, or when a block does nothing
// but poll, more executors join in. Inside a block every CUDA thread is a fiber with a stack of its own,
// switched by hand at barriers, warp operations and failed polls. Shared memory is thread-local storage of
// the executor, because an executor runs one block at a time.
//
//	include/        what a kernel's translation unit sees: CUDA's names, and the ABI (emu_abi.h) by which kernels reach the run time
//	block.cpp       fibers                         stacks.cpp   their stacks        switch_amd64.S  the switch
//	run_time.cpp    what kernels call: barriers, warp operations, polls
//	grid.cpp        one launch                     stream.cpp   queues, events, graphs
//	memory.cpp      device memory, and guard pages
//	device.cpp      executors, and the monitor that preempts kernels which compute without end
//	sample.cpp      what a kernel that runs long is doing, for those who ask
//	fault.cpp       signal handlers: a kernel's fault ends its grid, not the process; everything else is handed on to Go
//
// While accesses are watched:
//
//	sanitize.h            what is found and how, and what happens before what
//	sanitize_block.cpp    what a block does: accesses, words by which threads meet, barriers
//	sanitize.cpp          what a device finds, and what its streams and its host do
//	sanitize_shadow.cpp   what is remembered of every 8 bytes       sanitize_clock.cpp    what somebody knows of others
//	sanitize_region.cpp   what the processes of a world share for that
//	include/emu_hooks.h   what the compiler calls before each access
//
// A fault in a kernel is noticed by a signal handler that lets the executor continue in its scheduler, as
// if the block had never been. That is safe because a kernel holds nothing: all that takes locks or memory
// happens in sections marked as the run time's own, and a fault in one of those is Go's to report. The
// handlers are installed when the first device is opened, after Go's, and call Go's for every thread that
// is not inside a kernel, so that nil dereferences in Go panic as ever.
//
// Programs must not call [os/signal.Notify] without naming signals: it would take the monitor's signal away.
package emu
