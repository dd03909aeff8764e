//go:build linux && (amd64 || arm64)

// Package emu runs CUDA kernels on the host's processor. It is the C++ half of the cpu device. It
// does not compile snippets.
//
// Launches are queued in a stream and executed by the stream's own thread, its executor. The
// executor runs the grid's blocks one after the other; if that takes long, or if a block only
// polls, more executors help. Inside a block, every CUDA thread is a fiber with its own stack;
// fibers are switched at barriers, warp operations and failed polls. Shared memory is thread-local
// storage of the executor, because an executor runs one block at a time.
//
//	include/        headers for kernels: CUDA's names, inline PTX (emu_ptx.h), and the ABI (emu_abi.h) by which kernels call the run time
//	block.cpp       fibers                         stacks.cpp   their stacks        switch_*.S      the switch
//	machine.h       registers and instructions of x86-64 and aarch64
//	run_time.cpp    functions that kernels call: barriers, warp operations, polls
//	grid.cpp        one launch                     stream.cpp   queues, events, graphs
//	memory.cpp      device memory, and guard pages
//	turn.cpp        how waiting threads let others run
//	stand.cpp       which kernels stand still, because all their threads wait
//	device.cpp      executors, and the monitor that preempts endless kernels
//	sample.cpp      samples of long-running kernels
//	fault.cpp       signal handlers: a kernel's fault ends its grid, not the process; everything else is handed on to Go
//
// While accesses are watched:
//
//	sanitize.h            findings, the algorithm, and happens-before
//	sanitize_block.cpp    actions of a block: accesses, synchronisation by words, barriers
//	sanitize.cpp          findings of a device; actions of its streams and of the host
//	sanitize_shadow.cpp   the record for every 8 bytes       sanitize_clock.cpp    knowledge of accesses
//	sanitize_region.cpp   memory shared by the processes of a world
//	include/emu_hooks.h   functions called before each access
//
// A fault in a kernel is detected by a signal handler, after which the executor continues in its
// scheduler and drops the block. That is safe because a kernel holds no resources: locks and memory
// are only taken in sections marked as the run time's, and a fault in such a section is reported by
// Go. The handlers are installed when the first device is opened, after Go's, and call Go's for
// every thread that is not inside a kernel, so that nil dereferences in Go panic as ever.
//
// Programs must not call [os/signal.Notify] without naming signals: it would take the monitor's
// signal away.
package emu
