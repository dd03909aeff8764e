// Package worker is the process of one rank, the only one that runs user code. It may die at any time:
// its supervisor sees that, and starts the next one.
//
// The supervisor starts it with settings, descriptors and memory (package inherit). Serve (worker.go)
// moves the descriptors out of the way of user code (channel.go), becomes the parent of all processes
// that cells leave behind (descendants.go), has its caller make the rank's evaluator and communicator,
// and reports that the rank is ready.
//
// Then one goroutine only reads jobs, which are cells and recoveries, from a pipe of its own, carries
// them out and answers through a second pipe. Another goroutine reads the other commands, so that the
// worker can answer and interrupt while user code spins. What they do with a command is in rank.go, and
// needs no process: tests have ranks without one. A cell notes where its output begins (marker.go),
// changes the folder (folder.go), and reads lines that the user types (input.go). When the evaluator
// returns, the rank waits for the device (Communicator.Finish) and reports that it is done. If the cell
// has done damage so that the rank cannot go on, the worker reports that instead.
//
// To a question the rank answers what it waits for, how far it has come, or what its code is in: a
// channel, a sleep, a compiled call that does not return, a compiler, a kernel (status.go), and whether
// this process gets enough processor time (heldup.go).
//
// The worker ends when the session is over or when its supervisor has died, ends all processes that it
// has started, and in the second case removes the session's directory.
package worker
