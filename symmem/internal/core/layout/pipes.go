package layout

import (
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/hosts"
	knet "github.com/symmrepl/symmrepl/kernels/net"
)

const (
	pipeBox  = 4 << 20   // of the inboxes of a set, about
	pipeSlot = 256 << 10 // of a slot at most: a longer message is no quicker
)

// Pipes is the numbers of places of a group's two sets of pipes: between any two members, and
// between counterparts on each host. A set of more places than kernels have pointers for is left
// out: it has 0 places.
type Pipes struct{ Flat, Rail int }

// PipesOf returns the pipes of a group of so many ranks on so many hosts. even says that each host
// has as many.
func PipesOf(ranks, hosts int, even bool) (p Pipes) {
	if ranks <= abi.MaxRanks {
		p.Flat = ranks
	}
	if hosts <= abi.MaxRanks && even {
		p.Rail = hosts
	}
	return p
}

// Bytes is the size of the inboxes of both sets; the outboxes are as large.
func (p Pipes) Bytes() int { return boxBytes(p.Flat) + boxBytes(p.Rail) }

// boxBytes is the size of the inboxes of pipes between so many places.
func boxBytes(places int) int { return places * hosts.PipeSlots * slotBytes(places) }

// slotBytes is the size of a slot of pipes between so many places.
func slotBytes(places int) int {
	if places == 0 {
		return 0
	}
	return min(pipeBox/(places*hosts.PipeSlots), pipeSlot) &^ (Alignment - 1)
}

// PipeSet is the layout of a set of pipes in memory.
type PipeSet struct {
	Places        int // 0 if there is none
	Slot          int // bytes
	Inbox, Outbox int // offsets from the first inbox of the group
	Words         int // its first word among the words of pipes
}

// Set returns one of the sets.
func (p Pipes) Set(rail bool) PipeSet {
	s := PipeSet{Places: p.Flat}
	if rail {
		s = PipeSet{Places: p.Rail, Inbox: boxBytes(p.Flat), Words: hosts.Words(p.Flat)}
	}
	s.Slot, s.Outbox = slotBytes(s.Places), s.Inbox+p.Bytes()
	return s
}

// Words counts the words that a group that spans hosts has in the signals of each member.
type Words struct {
	Channels int // the words of its channels, which are first
	Pipes    int // the first word of its pipes, after the words of kernels that count completions
	All      int
}

// WordsOf returns the words of a group of so many ranks and channels.
func WordsOf(ranks, channels int, p Pipes) (w Words) {
	w.Channels = knet.Words * channels * ranks
	w.Pipes = w.Channels + abi.Counters
	w.All = w.Pipes + hosts.Words(p.Flat) + hosts.Words(p.Rail)
	return w
}

// tableBytes is the bytes that the tables of a group that spans hosts take at most.
func tableBytes(members int) int {
	return Aligned(int(unsafe.Sizeof(abi.NetGroup{})) + members*(int(unsafe.Sizeof(abi.NetMember{}))+4))
}
