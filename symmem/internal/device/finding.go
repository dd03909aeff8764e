package device

import (
	"fmt"
	"unsafe"
)

// Sanitizer is a Device that can watch every access of its kernels, and report those that go wrong on some device or in some order of events,
// though they did no harm this time.
type Sanitizer interface {
	Device

	// Sanitize says how kernels run from now on. To switch it off forgets what was done to memory; no rank runs kernels at that time. Snippets that are compiled while it is on are watched, and the built-in operations are. The memory of all
	// ranks is watched together: the ranks have to be on one machine, and share what Shadow returned on one of them. An *UnavailableError says why not.
	Sanitize(Sanitizing) error
	// Shadow names what this process knows of accesses for other processes of this machine, as Sanitizing.Shadow. It is "" before there is any, unless
	// it is to begin.
	Shadow(begin bool) (string, error)
	// Mark says what n bytes of memory are from now on: at once, or when a stream comes to it. It is ignored before the sanitizer was on.
	Mark(s Stream, p Ptr, n int, as MemoryState)
	// Calling says where the program is that makes the next calls.
	Calling(caller int)
	// Publish and Observe are the halves of a meeting of ranks on the host: what a rank knew when it published, those know who observe later.
	Publish()
	Observe()
	// Ended and Begun say that the host has ended a cell of a session, and begins one, by their numbers: what ranks knew at the end of cells of smaller numbers,
	// it knows then.
	Ended(run uint64)
	Begun(run uint64)
	// Network returns a net_watcher of C (net/proxy/watcher.h) for the engine whose board is n bytes at p, while that is mapped. It lives as long as the device.
	// Flushed says that the host has waited for all that kernels have posted, or, with ended, that nothing of it will be done any more.
	Network(board Ptr, n int) unsafe.Pointer
	Flushed(ended bool)
	// Findings returns what was found since it was called last: each once, however many threads did it.
	Findings() []Finding
}

// Sanitizing is how kernels are watched.
type Sanitizing struct {
	On     bool
	Rank   int    // of this device
	Shadow string // of the world, as a rank's Shadow returned it; kept from call to call when empty
	// Seed chooses the order in which threads and blocks run, where that is open, and which ranks are held back. 0 is the order in which they run
	// without the sanitizer. The same seed does the same within a rank.
	Seed int64
}

// MemoryState is what may be done with memory.
type MemoryState uint8

const (
	MemoryOutside   MemoryState = iota // it belongs to no tensor
	MemoryUndefined                    // it may be written; until then nobody should read it
	MemoryDefined                      // it may be read and written
	MemoryFreed                        // it belonged to a tensor
)

// FindingKind is what is wrong.
type FindingKind uint8

const (
	OutOfBounds FindingKind = iota
	UseAfterFree
	NeverWritten
	RaceInBlock
	RaceBetweenBlocks
	RaceBetweenStreams
	RaceBetweenRanks
	RaceWithHost
	OrderTooWeak
	DivergentBarrier
	SignalNotConsumed
	SharedBeyond
)

var findingKinds = [...]string{
	"out of bounds", "use after free", "never written", "race in a block", "race between blocks", "race between streams", "race between ranks", "race with the host",
	"order too weak", "divergent barrier", "signal over a signal not consumed", "shared memory beyond what was asked for",
}

func (k FindingKind) String() string { return findingKinds[k] }

// Finding is one thing that is wrong.
type Finding struct {
	Kind     FindingKind
	Accesses []Access // the later one first; there may be only one. After a use after free: the call that freed the memory, if that is known
	Address  Ptr      // of the later one, in this process
	Memory   string   // whose memory that is; a device leaves it to its user to say
	Order    string   // what orders the accesses, and what is missing
	Repair   string   // what to change
	Seed     int64    // that shows it again
}

// String names the kind, the memory and the places of the accesses.
func (f Finding) String() string {
	text := f.Kind.String()
	if f.Memory != "" {
		text += ": " + f.Memory
	}
	for _, a := range f.Accesses {
		text += fmt.Sprintf("; rank %d %s", a.Rank, a.Op)
		if a.File != "" {
			text += fmt.Sprintf(" at %s:%d", a.File, a.Line)
		}
	}
	return text
}

// Access is one access, or the first of several alike.
type Access struct {
	Rank    int
	Kernel  string // "" for the host's, and "copy" or "set" for a stream's
	Caller  int    // who launched or called, as Calling said
	File    string // "cell[3]", or the source of an operation, "all_reduce/two_shot.cu"; "" if it is not known
	Line    int
	Column  int    // 1-based; 0 if it is not known
	Source  string // the line, if it is a snippet's
	Block   [3]int
	Thread  [3]int
	Threads int    // of this rank, that did the same and were seen to
	Op      string // "writes", "reads", "adds to", "waits at", "frees it"
	Bytes   int
	Host    bool
}
