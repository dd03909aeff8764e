// Package session makes one prompt drive N ranks in lockstep.
//
// # Processes
//
// A controller, which is what the front ends talk to, holds for every rank a supervisor, and every supervisor
// keeps one worker. Only workers run user code, so only workers can be ended by it: a supervisor reports the
// end of its worker and starts a fresh one; the controller, the history and the other ranks live on. Launch
// makes all of it on this host, with the supervisors in the calling process and the workers as re-executions
// of its program. Join does the same in the processes that torchrun, mpirun or srun have started: each is the
// supervisor of one rank, and that of rank 0 holds the controller.
//
// Of each host but rank 0's, the first process leads: the others join through it, and rank 0 has one link with the host (follow.go, leader.go, host.go).
// A command for several ranks crosses it once, and so does what several ranks report alike. Simulate makes a session of such hosts whose ranks have no
// processes, to measure the session itself (simulate.go).
//
// # A cell's life
//
// Eval (eval.go) takes its turn, numbers the cell and records it. It tells the hub (package bootstrap) who takes part,
// so that a collective call that needs somebody else fails at once, and sends the source to the ranks (run.go). In
// each worker one goroutine does nothing but run cells; another reads commands, and so answers and interrupts
// while user code spins (worker.go). What user code writes to descriptors 1 and 2 goes through pipes to the supervisor,
// and from there to the fold (fold.go), which compares the ranks' lines by position, keeps equal ones once (strand.go) and shows them once; the worker marks
// where the cell begins, as goroutines of earlier cells print too (begin.go). When the
// evaluator returns, the worker waits for the device (Communicator.Finish) and reports that it is done; the supervisor
// empties the pipes before it passes that on. When the last rank is done, values and errors are folded too (reply.go),
// and Eval returns.
//
// # When something goes wrong
//
// A rank that is done, has failed or has died leaves the hub, so that no other waits there for it. Waits on the
// device are ended by Communicator.Abort: on all ranks when the user interrupts, and on those that wait for a rank
// that failed, a moment after it did. A compiled call that blocks regardless, as Accept does, goes on alone: its rank takes
// the next cell with all its variables, Ranks and the table of the watchdog show the call until it returns, and what it
// returns is dropped. A worker that an interrupt does not stop otherwise is killed; if the user can insist (Cell.Again), it
// is only then, and the session says before what that costs. The supervisor sees the end
// of its worker, with the cause: the exit status, the signal and whether the kernel had no memory left, the first line of
// what Go's runtime reported, which itself goes to a file (crash.go), and where in the cell it was, by memory that it shares
// with its worker (trail.go). After a cell that ended
// unevenly, all ranks meet in Communicator.Recover, fresh workers included, and only then does Eval return; it shows
// what was lost (recover.go).
//
// A supervisor on another host and the controller send each other heartbeats (package heartbeat). If one vanishes without a word, its connection
// ends after Config.Heartbeat, as it does at once when the supervisor dies. The rank is lost then: no worker takes its place, and the hub tells the other ranks, whose
// networks end what depends on it. The user is told once, at the prompt too (lost.go), and the ranks that are left go on in a group of theirs.
//
// Once a cell has run for half a second, the watchdog (watch.go) asks the ranks twice a second what they wait for, and how far they
// have come (standing.go). Ranks that wait in no operation say what their code is in, by the stack of its goroutine: a channel, a sleep, a compiled call that does not
// return, a compiler, a kernel (doing.go). If a wait lasts and whoever is waited for does not come, it shows a table: who waits in which operation, for whom, for what,
// since when, and who never came. hang.go says what that is worth telling. When
// a rank dies and the others neither end nor wait for it, that is said at once; if they end, before the next worker is there.
//
// A wait that cannot end, ends (deadlock.go): if all ranks stand still, and several looks find that nothing has moved between them, the waits of all are ended by the
// way of an interrupt, and each is an error of KindDeadlock that says what the ranks do that it waited for, with the table as its detail. Config.Deadlock leaves such
// waits alone. What the session cannot be sure of, such as a kernel of the user's that waits, is told and goes on.
//
// # After the end
//
// Nothing is left. Workers die with their supervisor, and the processes that they started die with them, in whatever group and
// session these are: a worker adopts what its cells leave behind, and ends it before it exits (descendants.go). After a worker that was
// killed, its supervisor ends its process group and what carries the worker's mark in its environment. The sockets
// are in a directory that the session removes at its end; those of a worker go when it dies. If the session's process is killed, a worker
// removes the directory, and if all workers are killed too, the next session does.
//
// Not covered are processes that have a session and an environment of their own, if their worker is killed and not merely its supervisor; and
// what cells have started, if the supervisor and its workers are killed at the same moment.
package session
