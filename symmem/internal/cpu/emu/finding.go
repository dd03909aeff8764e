package emu

// Finding is a finding about a kernel's accesses.
type Finding struct {
	Kind, Count int // see sanitize.h
	Why         Why
	Size        int
	Address     uint64
	Memory      string  // if it is not given by the address
	Places      []Place // the later access first
}

// Why is additional information about a finding, as in sanitize.h.
type Why int

// Reasons.
const (
	NoReason Why = iota
	NarrowScope
	NoFence
	FirstValue
	TwoWidths
	SignalsPass
	NotInStep
	NoFenceBehind
	NoFenceBefore
	FenceTooEarly
	PutAgain
)

// Part is the part of an engine's operation to which an access belongs, as in sanitize_region.h.
type Part int

// Parts of operations.
const (
	NoPart Part = iota
	PutReads
	PutWrites
	Gets
)

// Place is an access.
type Place struct {
	Rank   int
	Block  [3]int
	Thread [3]int
	PC     uint64 // in the module's file
	Write  bool
	Atomic bool
	Host   bool
	Part   Part
	Module *WatchedModule // nil if the access is not a module's
	Kernel string
	Caller int
	Stream int // the rank's number of the stream, from 1 on; 0 for the host
	Number int // of the launch or copy among those of the stream, while accesses are watched
}

// WatchedModule has the names by which findings refer to a module.
type WatchedModule struct {
	Library string // with line numbers
	Name    string // the snippet's; "" for an operation
	Line    int    // the line of its start
	Text    string
}
