package seam

import (
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
)

// Wait is one thing this rank waits for.
type Wait struct {
	Op       string // "wait_signal", "Rendezvous"
	Ordinal  uint64 // of a collective call in its group, from 1; 0 of any other
	Group    string // "world", or "group 0,2"
	Peers    []int  // world ranks it waits for
	For      string // "a signal on channel 3"
	Since    time.Duration
	Limit    time.Duration // after which it gives up by itself; 0: never
	Caller   int           // where the call was made, as Config.Caller said
	Replayed int           // where the graph was replayed last that captured the call, likewise; 0 if none did

	// Call is the name of a collective call: the same on all members, and of no other call. It is
	// empty for other calls.
	Call string
	// Sure reports whether only calls of the Peers end the wait, or calls of any other rank if
	// there are no Peers: an operation waits for a signal or a call, or a kernel of the user's
	// stands still, see [device.Stander]. It is not set for other kernels of the user's, nor for
	// waits for the network, a library or a copy.
	Sure bool
	// Anyone reports whether calls of any other rank may end the wait, though there are Peers: a
	// kernel of the user's may have other waits besides, and its words are its own.
	Anyone bool
	Host   bool // a collective call waits on the host
	// Library reports whether the call is under way in the device's library of collectives, NCCL.
	Library bool
	Seen    uint64 // grows when the waiting kernel has looked in vain; 0 on the host
}

// Progress describes the progress of this rank, and whether any of its work goes on by itself. It
// distinguishes a slow rank from one that waits in vain: a rank that waits in vain gives the same
// answer twice.
type Progress struct {
	// Moves changes whenever the rank makes progress: it makes a call or returns from one, work of
	// its device is over, it waits in another operation, or a message moves.
	Moves uint64
	// Stands reports whether no work makes progress by itself: each stream has nothing to do or is
	// in a call that Waits lists, and the network has done all its work.
	Stands bool
	// Inside is the number of goroutines in calls that may not return before a stream makes
	// progress, or another rank makes a call.
	Inside int
	// Watched reports whether the sanitizer watches kernels, which then take many times as long.
	Watched bool
	// Compiles is the compiler for which this rank waits, "" if there is none; CompilesFor is for
	// how long, CompilesCaller where in the program.
	Compiles       string
	CompilesFor    time.Duration
	CompilesCaller int
	Exchanged      []Exchanged // with the ranks that the network reaches
	Waits          []Wait      // as Waits returns them, without the counts of other ranks
}

// Exchanged counts the numbered messages between this rank and another one since the network was
// connected. No message is under way if one rank has sent as many as the other has finished.
type Exchanged struct {
	Peer         int
	Sent, Landed uint64
}

// Mix makes Moves depend on x.
func (p *Progress) Mix(x uint64) { (*calls.Digest)(&p.Moves).Mix(x) }
