package device

import (
	"fmt"
	"unsafe"
)

// Sanitizer is a Device that can watch every access of its kernels. It reports accesses that are
// wrong on some device or in some order of events, even if they did no harm this time.
type Sanitizer interface {
	Device

	// Sanitize sets how kernels run from now on. Switching it off forgets all recorded accesses; no
	// rank may run kernels at that time. Snippets that are compiled while it is on, and the
	// built-in operations, are watched. The memory of all ranks is watched together, so the ranks
	// have to be on one machine, and share the result of Shadow on one of them. If that is
	// impossible, the error is an *UnavailableError.
	Sanitize(Sanitizing) error
	// Shadow returns a name for this process's record of accesses, for Sanitizing.Shadow in other
	// processes of this machine. If there is no record, it returns "" unless begin is set.
	Shadow(begin bool) (string, error)
	// Mark sets the state of n bytes of memory: at once, or when a stream reaches the mark. It has
	// no effect before the sanitizer was on.
	Mark(s Stream, p Ptr, n int, as MemoryState)
	// Calling sets the place in the program that makes the following calls.
	Calling(caller int)
	// Publish and Observe are the two halves of a barrier of ranks on the host: a rank that
	// observes knows everything that others knew when they published.
	Publish()
	Observe()
	// Ended and Begun note that the host has ended or begins a cell of a session, by number. At the
	// beginning of a cell the host has observed everything that ranks had observed at the end of
	// cells with smaller numbers.
	Ended(run uint64)
	Begun(run uint64)
	// Network returns a net_watcher of C (net/proxy/watcher.h) for the engine whose board is n
	// bytes at p, while the board is mapped. It is valid as long as the device. Flushed notes that
	// the host has waited for everything that kernels have posted or, if ended is set, that none of
	// it will be done any more.
	Network(board Ptr, n int) unsafe.Pointer
	Flushed(ended bool)
	// Findings returns the findings since its last call, each once, however many threads caused it.
	Findings() []Finding
}

// Sanitizing is the configuration of a Sanitizer.
type Sanitizing struct {
	On     bool
	Rank   int    // of this device
	Shadow string // the world's, as returned by Shadow of a rank; if empty, it does not change
	// Seed chooses the order in which threads and blocks run, if several orders are possible, and
	// which ranks are delayed. 0 is the order without the sanitizer. The same seed gives the same
	// order within a rank.
	Seed int64
}

// MemoryState is the set of accesses that are valid in a piece of memory.
type MemoryState uint8

const (
	MemoryOutside   MemoryState = iota // it belongs to no tensor
	MemoryUndefined                    // it may be written, and read after that
	MemoryDefined                      // it may be read and written
	MemoryFreed                        // it belonged to a tensor
)

// FindingKind is the kind of a finding.
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
	"out of bounds", "use after free", "never written", "race in a block", "race between blocks", "race between streams",
	"race between ranks", "race with the host",
	"order too weak", "divergent barrier", "signal over a signal not consumed", "shared memory beyond what was asked for",
}

func (k FindingKind) String() string { return findingKinds[k] }

// Finding is a wrong access or a wrong pair of accesses.
type Finding struct {
	Kind FindingKind
	// the later one first; there may be only one. For a use after free, the second is the call that
	// freed the memory, if known
	Accesses []Access
	Address  Ptr    // address of the later access, in this process
	Memory   string // name of the memory; the user of the device may fill it in
	Order    string // what orders the accesses, and what is missing
	Repair   string // what to change
	Seed     int64  // a seed that reproduces it
}

// String gives the kind, the memory and the places of the accesses.
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

// Access is one access, or the first of several similar ones.
type Access struct {
	Rank   int
	Kernel string // "" for the host, and "copy" or "set" for a stream
	Caller int    // the place of the launch or call, as set by Calling
	// "cell[3]", or the source of an operation, "all_reduce/two_shot_lines.cu"; "" if unknown
	File    string
	Line    int
	Column  int    // 1-based; 0 if unknown
	Source  string // the line, if it is in a snippet
	Block   [3]int
	Thread  [3]int
	Threads int    // number of threads of this rank that were seen to do the same
	Op      string // "writes", "reads", "adds to", "waits at", "frees it"
	Bytes   int
	Host    bool
}
