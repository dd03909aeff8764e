package seam

import (
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Observer hears of the calls of this rank, by the steps that core describes. The world is locked. An
// observer that an event does not concern embeds [Blind].
type Observer interface {
	// Admitted begins the work of a call.
	Admitted(*Sight)
	// Ran notes a kernel of the call, and whether it was loaded for the call.
	Ran(kernel string, loaded bool)
	// Chose notes the way of a call that has several. bytes is the size by which it was chosen.
	Chose(s *Sight, bytes int, w *tuning.Way)
	// Replays notes that the call replays a graph.
	Replays(Graph)
	// Issued notes the route of a call, once work that takes it is in the stream.
	Issued(*Sight)
}

// Blind is an observer that sees nothing.
type Blind struct{}

func (Blind) Admitted(*Sight)                {}
func (Blind) Ran(string, bool)               {}
func (Blind) Chose(*Sight, int, *tuning.Way) {}
func (Blind) Replays(Graph)                  {}
func (Blind) Issued(*Sight)                  {}

// Sight is a call as observers see it. It is valid during an event.
type Sight struct {
	calls.Entry
	Group   Members // nil if there is none
	Stream  Stream
	Timeout time.Duration
	User    bool   // it launches a kernel of the user's
	Result  Result // where the memory of its result is from
	NotNCCL string // why the device's library of collectives did not get it, if it might have
	Staged  int    // bytes of ordinary memory for which symmetric memory stands
	Route   Route
}

// Result is the origin of the memory of a call's result.
type Result int8

const (
	NoResult Result = iota
	FromMemory
	FromPool
)

// Route describes the traffic of a call: the peer, the direction and the bytes. The zero value means
// none.
type Route struct {
	Way   string // "to" or "from" a member, "with" all, or "by" a library
	Peer  int    // by its rank in the group; of "with" it means nothing
	Bytes int
	Of    string // the library; of a collective over hosts the name of its way, and Why: Bytes is then what this rank sends
	Why   string
	Size  int // of the message, by which the way was chosen

	Splits  int  // numbers in device memory that give further bytes; 0 if there are none
	Unknown bool // only the device knows how many bytes it moves
}

// Far reports whether the route leads to another host.
func (r *Route) Far(g Members) bool {
	split := g.Split()
	return split.Spans() && (r.Way == "with" || !split.Near(r.Peer))
}

// Graph is a graph that was captured.
type Graph interface {
	Empty() bool   // it has no call
	Named() string // its calls, the first ones by name
}
