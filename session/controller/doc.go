// Package controller makes one prompt drive N ranks in lockstep: it implements session.Session.
//
// # Processes
//
// Front ends talk to a controller. The controller holds a supervisor for every rank, and every
// supervisor keeps one worker. Only workers run user code, so user code can end only workers: a
// supervisor reports the end of its worker and starts a fresh one; the controller, the history and
// the other ranks live on. Launch makes the whole session on this host, with the supervisors in the
// calling process and the workers as re-executions of its program. Join does the same in the
// processes that torchrun, mpirun or srun have started: each process is the supervisor of one rank,
// and the process of rank 0 holds the controller.
//
// On each host but rank 0's, the first process leads (package hosts), and rank 0 has one link to the
// host (host.go). Tests simulate such hosts with ranks that have no processes, and measure the session
// itself by them (simulation_test.go).
//
// # A cell's life
//
// Eval (eval.go) takes its turn, numbers the cell and records it. It tells the hub (package
// bootstrap) which ranks take part, so that a collective call that needs another rank fails at
// once, and sends the source to the ranks (run.go), whose workers run it (package worker). The
// output of user code to descriptors 1 and 2 goes through pipes to the supervisor, and from there
// to the fold (package fold). The fold compares the ranks' lines by position, keeps equal lines
// once (fold/strand.go) and shows them once; the worker notes where the cell begins, because
// goroutines of earlier cells print too. When the last rank is done, values and errors are folded
// too (reply.go), and Eval returns.
//
// # When something goes wrong
//
// A rank that is done, has failed or has died leaves the hub, so that no other rank waits there for
// it. Communicator.Abort ends waits on the device: on all ranks when the user interrupts, and,
// shortly after a rank has failed, on the ranks that wait for it. A compiled call that blocks
// regardless, such as Accept, goes on in the background: its rank takes the next cell with all its
// variables, Ranks and the watchdog's table show the call until it returns, and its result is
// dropped. If an interrupt does not stop a worker otherwise, the worker is killed. If the user can
// insist (Cell.Again), the worker is killed only then, and the session first says what that costs.
// The supervisor reports the end of its worker with its cause and its place in the cell (package
// supervisor). After a cell that ended differently on different ranks, all ranks, fresh workers
// included, meet in Communicator.Recover. Only then does Eval return; it shows what was lost
// (recover.go). The death of a worker while no cell runs is reported at once (death.go).
//
// The controller and the supervisors on other hosts send each other heartbeats (package heartbeat).
// If a supervisor becomes silent, its connection ends after Config.Heartbeat; if it dies, the
// connection ends at once. Its rank is then lost: no worker takes its place, and the hub informs
// the other ranks, whose networks end the operations that depend on it. The session reports the
// loss once, at the prompt too (lost.go), and the remaining ranks go on in a group of their own. If the
// supervisor is heard again before, nothing is lost: Recover waits for it.
//
// Once a cell has run for half a second, the watchdog (package watchdog) asks the ranks twice a
// second what they wait for, how far they have come, and what their code is in. If a wait lasts and
// the awaited rank does not come, the watchdog shows a table: which rank waits in which operation,
// for which rank, for what, since when, and which rank never came. Its file hang.go decides which
// waits are worth reporting. When a rank dies and the others neither end nor wait for it, the
// session reports that at once; if they end, it reports the death before the next worker is ready.
//
// The session ends a wait that cannot end by itself (watchdog/deadlock.go): if all ranks stand still, and
// several looks find no change, all waits are ended as by an interrupt. Each becomes an error of
// KindDeadlock that describes the awaited ranks, with the table as its detail. With Config.Deadlock
// set to DeadlockWait such waits go on. If the session cannot be sure, as with a user's kernel that
// waits, it reports the wait and lets it go on.
//
// # Debugging
//
// While a front end debugs (debug.go), cells are compiled so that their code can stand before each
// statement (DebuggedEvaluator). The controller keeps the breakpoints and sends each cell's with it
// (debugger.go). A cell waits for what the debugger commanded before it, which arrives on another
// connection. A rank that stands says so; the run collects what the others do, tells the front
// ends, and suspends the watchdog and the limits until the ranks go on (stand.go). Attached front
// ends do the same through their connection (debugwire.go).
//
// # After the end
//
// A session leaves no processes or files behind. Workers die with their supervisor, and the
// processes that they started die with them, in any group and session. If a worker was killed, its
// supervisor ends these. The sockets are in a directory that the session removes at its end; a
// worker's own sockets are removed when it dies. If the session's process is killed, a worker
// removes the directory, and if all workers are killed too, the next session does.
//
// There are two exceptions: processes that have a session and an environment of their own, if their
// worker is killed and not only its supervisor; and processes started by cells, if the supervisor
// and its workers are killed at the same moment.
//
// # Files
//
// All files are the controller's but attach.go, which is a further front end's; debugwire.go has the
// requests of one that debugs, for both ends. The controller's watchdog is vain.go, stand.go, limit.go,
// nccl.go, death.go, lost.go and recover.go; what it does for front ends is in fronts.go, borrowed.go and
// debugger.go.
package controller
