package inherit

import (
	"fmt"
	"time"
)

// Variable is an environment variable that marks a process as a worker. Its value is the JSON of a Spec.
const Variable = "SYMMREPL_WORKER"

// Descriptors that a worker inherits.
const (
	Control = 3 // the connection to its supervisor, for all but jobs
	Hub     = 4 // the connection to the hub
	Shared  = 5 // the file of the Memory
	Jobs    = 6 // a pipe for cells and recoveries
	Answers = 7 // a pipe for the answers to them
)

// Spec holds the settings that a supervisor passes to its worker at the start.
type Spec struct {
	Rank, Size, LocalRank int
	LocalSize             int // 0 if it is not known
	Incarnation           int
	Dir                   string
	Device, Backend       string
	Hosts                 string // Config.Hosts as text; "" for none
	Network               string
	Lender                string
	Args                  []string
	Program               bool // whether Config.Program is set
}

// MarkVariable is an environment variable that names the worker. The worker and all processes that
// its cells start have it. After a worker has been killed, the variable identifies processes that
// have left its process group.
const MarkVariable = "SYMMREPL_OF_WORKER"

// Mark returns the value of MarkVariable for a worker.
func (s Spec) Mark() string { return fmt.Sprintf("%s/%d.%d", s.Dir, s.Rank, s.Incarnation) }

// CloseGrace is the time for Communicator.Close when the session ends.
const CloseGrace = 2 * time.Second

// LostSession is the cause of a worker's end whose connection with its supervisor is gone.
const LostSession = "lost its connection with the session: a cell closed descriptors that are not its own"

// Threads is the number of threads that a worker leaves to the session, of those that the user may have.
const Threads = 12
