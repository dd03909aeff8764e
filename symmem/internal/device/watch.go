package device

import "github.com/symmrepl/symmrepl/kernels/abi"

// Watch is host memory that both the host and this process's kernels access, to explain and end
// waits on the device. It mirrors struct symm::Watch of symm/context.cuh field for field.
//
// The host sets WatchAbort in Abort to end every wait. A device wait that lasts publishes a record
// in Waits, at the index of the peer it waits for, and removes it when it is satisfied; with
// WatchTrace in Abort, every wait that does not end at once does so. The first wait that gives up,
// because of the abort or its deadline, claims Fault by changing its State from zero, and fills it.
// The host clears Fault when the stream is idle. All fields are read and written with sync/atomic.
type Watch struct {
	Abort uint32
	_     [7]uint32
	Ended uint32 // kernels with a library's headers check this instead: not 0 ends their waits
	_     uint32
	// Absent is 0, or a record of an access to a peer of a window whose memory cannot be accessed:
	// the peer in the low half, and in the other half 1 more than the number of accessible peers. A
	// WaitRecord would slow down kernels that only access valid peers.
	Absent uint64
	_      [4]uint32
	Fault  WaitRecord
	Waits  [abi.MaxWaits]WaitRecord // index: peer % MaxWaits
	// Outside has the accesses out of bounds of kernels with Param.Checked, by line % MaxOutside.
	// The first access at each index claims its Line by changing it from zero, fills the record and
	// sets its State to a value other than 0. The host clears both, Line last.
	Outside [abi.MaxOutside]Outside
}

// Outside is one access outside of a launch's arguments, 64 bytes.
type Outside struct {
	State   uint32
	Line    uint32 // of the access, in the compiler's numbering; NoLine if unknown
	Call    uint32 // of the extent
	Bytes   uint32
	Reads   uint32 // not 0 if it was certainly not a write
	_       uint32
	Block   [3]uint32
	Thread  [3]uint32
	Address uint64
	First   uint64 // of the extent
}

// NoLine stands for an unknown line.
const NoLine = 1<<32 - 1

// Bits of Watch.Abort.
const (
	WatchAbort = 1
	WatchTrace = 2
)

// WaitRecord is one wait, 64 bytes.
type WaitRecord struct {
	State   uint32 // one of the Wait states
	Kind    uint32 // what it waits for: one of the Wait kinds
	Ordinal uint32 // number of the waiting operation in symmem's record of calls
	Rank    uint32 // rank that waits, in the group's numbering
	Peer    uint32 // rank it waits for
	Channel uint32
	Want    uint64
	Seen    uint64
	Elapsed uint64 // nanoseconds waited so far
	Began   uint64 // when, by the waiting rank's clock: distinguishes waits
	_       uint64
}

// States of a WaitRecord.
const (
	WaitNone    = 0
	WaitPending = 1
	WaitTimeout = 2
	WaitAborted = 3
	WaitClaimed = 4 // being filled
	// not a wait: a value that was refused; Kind says which value of Peer, at index Channel; Seen
	// is the value, Want the limit
	WaitRefused = 5
	WaitLost    = 6 // gave up because Peer is lost
)

// Kinds of waits.
const (
	WaitSignal   = 1 // a signal of Peer on Channel
	WaitConsumed = 2 // Peer to consume the previous signal on Channel
	WaitPacket   = 3 // a packet of Peer; Channel is the block, Want the epoch
	WaitWord     = 4 // a 64-bit signal word; Channel is its index, Want and Seen its value
	WaitUser     = 5 // a wait of a user's kernel
	WaitBarrier  = 6 // Peer to come to a barrier on Channel; Want is the round

	// Waits of streams, which the host publishes: see symmem's copy engines.
	WaitCopy   = 7 // Peer to come to the copies
	WaitCopied = 8 // Peer to be done with its copies

	// Waits for peers on other hosts.
	WaitNetSignal  = 9  // a signal of Peer on Channel; Want and Seen count them
	WaitNetCounter = 10 // an operation to or from Peer to complete; Want is its number, from 1, Seen how many are over
	WaitNetFlush   = 11 // the network engine to be done with Want operations, for Peer unless that is Rank; Seen as before
	WaitNetBarrier = 12 // Peer to come to a barrier on Channel
	WaitNetChunk   = 14 // chunk number Want, from 1, of Peer, in slot Channel of a pipe
	WaitNetUsed    = 15 // Peer to use the chunk before chunk number Want in slot Channel of a pipe
	WaitNetRows    = 16 // the rows of Peer
	WaitNetTokens  = 17 // what Channel, a word of kernels/tokens, counts of Peer; Want and Seen count

	WaitCounter = 13 // counter Channel of the group, of operations of this rank, to become Want; Seen is it

	// Waits of NCCL's device API.
	WaitLSABarrier = 20 // Peer to come to LSA barrier number Channel; Want is the round
	WaitLowLatency = 21 // a value in slot Channel of a low-latency session; Want is its epoch
	WaitGinSignal  = 22 // GIN signal Channel, not below Want; Seen is it
	WaitGinCounter = 23 // GIN counter Channel, likewise

	// Waits of nvshmem.h.
	WaitShmemWord    = 24 // a word of this rank, unless Peer is gone; Want is the value it is compared with, Seen is it
	WaitShmemMeeting = 25 // Peer to come to a barrier

	WaitLibrary = 30 // a call by the device's library of collectives, which the host publishes
)
