package controller

import (
	"fmt"
	"os"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// workerVariable marks a process as a worker. Its value is the JSON of a workerSpec.
const workerVariable = "SYMMREPL_WORKER"

// Descriptors that a worker inherits.
const (
	controlFD   = 3
	bootstrapFD = 4
	sharedFD    = 5
	jobsFD      = 6
	answersFD   = 7
)

// workerSpec holds the settings that a supervisor passes to its worker at the start.
type workerSpec struct {
	Rank, Size, LocalRank int
	LocalSize             int // 0 if it is not known
	Incarnation           int
	Dir                   string
	Device, Backend       string
	Hosts                 string // Config.Hosts as text; "" for none
	Network               string
	Args                  []string
	Program               bool // whether Config.Program is set
}

// specOf returns the specification that a supervisor with this configuration passes to the worker of
// a rank.
func specOf(c session.Config, rank, size, localRank, localSize int, dir string) workerSpec {
	return workerSpec{Rank: rank, Size: size, LocalRank: localRank, LocalSize: localSize, Dir: dir, Device: c.Device,
		Backend: c.Backend, Hosts: c.Hosts.String(), Network: c.Network,
		Args: c.Args, Program: c.Program != nil}
}

// stdinOf returns the standard input of a rank's worker; nil stands for empty input.
func stdinOf(c session.Config, rank int) *os.File {
	if rank != 0 || c.Program == nil {
		return nil
	}
	return c.Program.Stdin
}

// markVariable is an environment variable that names the worker. The worker and all processes that
// its cells start have it. After a worker has been killed, the variable identifies processes that
// have left its process group.
const markVariable = "SYMMREPL_OF_WORKER"

// mark is the value of markVariable for a worker.
func (s workerSpec) mark() string { return fmt.Sprintf("%s/%d.%d", s.Dir, s.Rank, s.Incarnation) }

// closeGrace is the time for Communicator.Close when the session ends.
const closeGrace = 2 * time.Second

// lostSession is the cause of a worker's end whose connection with its supervisor is gone.
const lostSession = "lost its connection with the session: a cell closed descriptors that are not its own"
