package session

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
)

// KillAfter is the default of Config.KillAfter.
const KillAfter = 3 * time.Second

// Config configures a session.
type Config struct {
	Ranks   int    // number of processes that Launch starts; Join uses the launcher's number
	Device  string // passed to the workers: "cpu", "cuda" or "auto"
	Backend string // passed to the workers
	Hosts   Hosts  // simulated hosts, for all ranks
	Network string // passed to the workers: the network for operations between hosts
	Lender  string // passed to the workers: the folder of a program that lends its tensors to cells; "" for none
	// KillAfter is the time that an interrupted worker may take to stop before it is killed or,
	// with Cell.Again, reported. Zero means the constant KillAfter. A worker that gets too little
	// processor time may take up to eight times as long.
	KillAfter time.Duration
	// Rendezvous is host:port of rank 0, for launchers that do not provide it. Only Join uses it.
	Rendezvous string
	// Heartbeat is the time of silence after which Join counts another host as lost; 0 means never.
	// Rank 0's value counts.
	Heartbeat time.Duration
	// Notice, unless nil, receives sentences for the user: which ranks Join waits for, if that
	// takes more than a moment; a note about the devices from rank 0; and, while no cell runs,
	// which ranks are lost and whose workers have died.
	Notice func(string)
	// Prompt means that Notice prints above the prompt at which the user enters cells. The session
	// then does not repeat a notice with a cell.
	Prompt bool
	// Reports is a folder for the reports of Go's runtime about workers that it has ended: one file
	// for each rank, with the last report. If Reports is empty, the reports are shown.
	Reports string
	// Args is os.Args in cells; if empty, the name of this program.
	Args []string
	// Deadlock selects the treatment of a wait that cannot end: DeadlockEnd, which is the default,
	// or DeadlockWait.
	Deadlock string
	// Program, unless nil, means that the cells belong to a program.
	Program *Program
	// Private means that no further front ends can attach to the session.
	Private bool
}

// Program means that the cells of a session are one program, run as by `go run`: the program reads
// its own standard input, and a rank that calls os.Exit ends the program. Such a rank is not
// replaced, and no more cells run.
type Program struct {
	// Stdin is the standard input of rank 0. The standard input of other ranks is empty, as with
	// mpirun.
	Stdin *os.File
	// Unattended means that no user watches the program. With one rank the session then does not
	// report cells that take long.
	Unattended bool
}

// Hosts divides the ranks among simulated hosts. The zero Hosts divides nothing.
type Hosts = bootstrap.Parts

// HostsVariable is the environment variable with the default of Config.Hosts, also for compiled
// programs.
const HostsVariable = bootstrap.PartsVariable

// ParseHeartbeat parses a value for Config.Heartbeat: see [heartbeat.Parse].
func ParseHeartbeat(text string) (time.Duration, error) { return heartbeat.Parse(text) }

// HeartbeatVariable is the environment variable with the default of Config.Heartbeat.
const HeartbeatVariable = heartbeat.Variable

// ParseHosts parses a value for Config.Hosts: see [bootstrap.ParseParts].
func ParseHosts(text string, ranks int) (Hosts, error) { return bootstrap.ParseParts(text, ranks) }

// Values of Config.Deadlock, for waits that cannot end.
const (
	DeadlockEnd  = "end"
	DeadlockWait = "wait"
)

// DeadlockVariable is the environment variable with the default of Config.Deadlock.
const DeadlockVariable = "SYMMREPL_DEADLOCK"

// ParseDeadlock checks a value for Config.Deadlock; "" means DeadlockEnd.
func ParseDeadlock(text string) (string, error) {
	switch text {
	case "", DeadlockEnd:
		return DeadlockEnd, nil
	case DeadlockWait:
		return DeadlockWait, nil
	}
	return "", errors.New("end or wait is expected")
}

// A Limit is the cause of a context that has ended because the program's time limit is over. The
// session shows the activity of the ranks, and then interrupts the running cell.
type Limit time.Duration

func (l Limit) Error() string { return fmt.Sprintf("the limit of %v is over", time.Duration(l)) }
