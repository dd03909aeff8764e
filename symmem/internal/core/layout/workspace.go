package layout

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	allreduce "github.com/symmrepl/symmrepl/kernels/all_reduce"
	"github.com/symmrepl/symmrepl/kernels/packets"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// The shapes of the inboxes, as the kernels have them.
const (
	packetBytes = 16
	packetBanks = 2
	UnitBytes   = 16 // bytes that two_shot_chunks loads and stores at once
)

// PoolWords is the 64-bit words of the memory pool in a workspace: two sets of one for each rank.
const PoolWords = 2 * abi.MaxRanks

// Words of the copy engines in a workspace: see package copies.
const (
	CopyPhase  = 0 // one of the phases
	CopyCall   = 1 // the id of the call
	CopyMark   = 2 // set by the host, cleared with every phase: distinguishes a phase that lasts from one that came again
	CopyComing = 16
	CopyDone   = CopyComing + abi.MaxRanks
	CopyWords  = CopyDone + abi.MaxRanks
)

// Workspace is the offsets within the segment of a workspace; core's Workspace describes the
// contents.
type Workspace struct{ Meetings, Copies, Pool, Epochs, Inbox, Counts, Lines, Chunks, Tables, Pipes, End int }

// Local lays out the workspace of a group of so many ranks of one host, whose signal block has so
// many channels.
func Local(ranks, channels int, p *tuning.Plan) Workspace {
	var l Workspace
	l.Meetings = Aligned(signalBytes(channels, ranks))
	l.Copies = l.Meetings + Aligned(signalBytes(p.MeetBlocks, ranks))
	l.Pool = l.Copies + Aligned(4*CopyWords)
	l.Epochs = l.Pool + Aligned(8*PoolWords)
	l.Inbox = l.Epochs + Aligned(4*p.PacketBlocks)
	l.Counts = l.Inbox + p.PacketGrid(ranks)*packetBanks*ranks*packets.Threads*packetBytes
	l.Lines = l.Counts + Aligned(4*p.LineBlocks)
	l.Chunks = l.Lines + p.LineBlocks*packetBanks*ranks*p.LineSlots(ranks)*packetBytes
	l.Tables = l.Chunks + p.ChunkBlocks*allreduce.ChunkBanks*(ranks-1)*p.ChunkCrowd(ranks)*allreduce.ChunkUnits*UnitBytes
	l.End = l.Tables
	return l
}

// Spanning lays out the workspace of a group that spans hosts. It has no inboxes: kernels that need
// one work in the LSA team.
func Spanning(ranks, channels int, p *tuning.Plan, pipes Pipes) Workspace {
	l := Local(ranks, channels, p)
	l.Tables = l.Epochs + Aligned(8*WordsOf(ranks, channels, pipes).All)
	l.Pipes = l.Tables + tableBytes(ranks)
	l.End = l.Pipes + 2*pipes.Bytes()
	return l
}

// SignalBytes is the size of a signal block of symm/signal.cuh in a pad, for barriers of so many
// blocks.
func SignalBytes(blocks, ranks int) int { return Aligned(signalBytes(blocks, ranks)) }

// signalBytes is the size of a signal block of symm/signal.cuh: slots and arrivals by channel and
// rank, a count of rounds by channel, whether an operation gave up, and the counters.
func signalBytes(channels, ranks int) int {
	return (GaveUpAt(channels, ranks)+4+7)&^7 + 8*abi.Counters
}

// GaveUpAt is the offset of the word of a signal block that says that an operation gave up.
func GaveUpAt(channels, ranks int) int { return 4 * channels * (2*ranks + 1) }

// Alignment is the alignment of everything that is placed in device memory.
const Alignment = 256

// Aligned rounds a size up.
func Aligned(n int) int { return (n + Alignment - 1) &^ (Alignment - 1) }
