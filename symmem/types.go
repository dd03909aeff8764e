package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
)

// The types of package internal/core.

// world is core.Runtime under a name that a Runtime can embed unexported.
type world = core.Runtime

// DType is the type of a tensor's elements. Only the constants are types; another value has no size
// and is refused. Default stands for a type where a tensor is made.
type DType = core.DType

// The element types. F8E4M3 and F8E5M2 are storage: they can be filled, copied and read, and of the
// reductions only ReduceScatter takes them. I16 and U16 are calculated with, but not reduced between
// ranks. A Bool is a byte that is 0 or 1. C64 and C128 are complex numbers: pairs of F32 and of F64,
// the real part first.
const (
	F16    = core.F16
	BF16   = core.BF16
	F32    = core.F32
	F64    = core.F64
	I8     = core.I8
	U8     = core.U8
	I32    = core.I32
	U32    = core.U32
	I64    = core.I64
	U64    = core.U64
	F8E4M3 = core.F8E4M3
	F8E5M2 = core.F8E5M2
	I16    = core.I16
	U16    = core.U16
	Bool   = core.Bool
	C64    = core.C64
	C128   = core.C128
)

// Default, given where a tensor is made, is the type that SetDefaultDType has set; F32 before.
const Default = core.Default

// Tensor is a contiguous array in device memory, row-major. Slice and View share its memory.
type Tensor = core.Tensor

// Lent is a tensor of another program of this host, in memory that the program shares. The memory is
// [signal pad | data of an allocation], and the tensor a part of the data.
type Lent = core.Lent

// FileTensor describes a tensor of a file.
type FileTensor = core.FileTensor

// Stats are statistics of a tensor's elements.
type Stats = core.Stats

// Tile is a rectangle of a tensor of two dimensions. It shares the tensor's memory.
type Tile = core.Tile

// Group is a set of ranks that communicate: it has signals and inboxes of its own, so that groups
// never disturb each other. A rank that is not a member holds the group too, to name it, and is
// refused its use.
type Group = core.Group

// MaxRanks is the maximum number of ranks that share memory, as the ranks of a host do;
// symm::kMaxRanks in kernels. A world on several hosts may have [MaxWorld].
const MaxRanks = abi.MaxRanks

// MaxWorld is the most ranks that a world may have, on all hosts together.
const MaxWorld = core.MaxWorld

// Handle is a symmetric tensor that a group has mapped: every member's copy of it, its signal pad,
// and the group's signals. Ranks are numbers in the group. A handle ends with its tensor.
type Handle = core.Handle

// DevReqs lists the resources of a [DeviceComm]. The names follow NCCL's requirements:
// barrierCount, lsaBarrierCount, lsaLLA2ABlockCount, lsaLLA2ASlotCount, and the bytes of resource
// buffers. Indices of each begin at 0.
type DevReqs = core.DevReqs

// DeviceComm is the argument of a kernel whose parameter is a ncclDevComm: a group with resources
// in the memory of all members. It lives until Free.
type DeviceComm = core.DeviceComm

// DeviceWindow is the argument of a kernel whose parameter is a ncclWindow_t: a symmetric tensor.
// It ends with the tensor.
type DeviceWindow = core.DeviceWindow

// Stream is a queue of work on the device, in order. The world has one from the start.
type Stream = core.Stream

// Event marks a place in a stream, to wait for and to measure from.
type Event = core.Event

// Work is the work that [Runtime.Async] has issued on a stream of its own.
type Work = core.Work

// Graph is work that was captured once and can be replayed at the cost of a single launch.
type Graph = core.Graph

// MemPool is the memory pool of a group: see [Runtime.UseMemPool]. It ends with its group.
type MemPool = core.MemPool

// PoolStats describes a group's memory pool on this rank.
type PoolStats = core.PoolStats

// Tally sums up the stream-ordered collective calls that this rank has made in one group since the
// group was made or recovered. Such calls are not compared before they run, which would cost a trip
// over the host; members whose tallies differ have made different calls.
type Tally = core.Tally

// Wait is one thing this rank waits for.
type Wait = core.Wait

// Traced is the record of a trace on this rank.
type Traced = core.Traced

// Timeline is the record that [Runtime.Trace] made of all ranks.
type Timeline = core.Timeline

// Progress describes the progress of a rank, and whether any of its work goes on by itself.
type Progress = core.Progress

// State is the state of a rank at one moment.
type State = core.State

// StreamState describes a stream.
type StreamState = core.StreamState

// GroupState describes a group.
type GroupState = core.GroupState

// SignalState is a signal that no wait has consumed.
type SignalState = core.SignalState

// WordState is a word of a signal pad that is not 0.
type WordState = core.WordState

// Exchanged counts the messages between two ranks that the network connects.
type Exchanged = core.Exchanged

// Busy is a kernel of the user's that has run for a while.
type Busy = core.Busy

// Runs are the times of code that all ranks ran several times: see [Runtime.MeasureRuns]. It prints
// as the slowest rank's median and spread, and a table of all ranks.
type Runs = core.Runs

// Turns are the times of two pieces of code that ran in turns: see [Runtime.MeasureTurns]. It prints
// with the difference, and whether it is real.
type Turns = core.Turns

// Comparison are the ways in which code ran, with their results and times: see [Runtime.Compare]. It
// prints as a table.
type Comparison = core.Comparison

// Explained describes the execution of a call: see [Runtime.Why].
type Explained = core.Explained

// Error is the value with which functions of this package panic. [Maybe] turns it into an ordinary
// error.
type Error = core.Error

// Kind classifies an Error so that programs need not read its words.
type Kind = core.Kind

// The kinds of errors.
const (
	KindMisuse      = core.KindMisuse      // the call was refused before it changed anything
	KindMismatch    = core.KindMismatch    // the ranks disagree about a collective call
	KindCompile     = core.KindCompile     // a kernel does not compile
	KindFault       = core.KindFault       // a kernel faulted
	KindTimeout     = core.KindTimeout     // a wait reached its deadline
	KindDeadlock    = core.KindDeadlock    // a wait cannot end: all ranks that could end it are done, or wait too
	KindInterrupted = core.KindInterrupted // a wait was ended from outside
	KindPeer        = core.KindPeer        // another rank failed or died while this one waited for it
	KindSystem      = core.KindSystem      // the machine, the driver, the network
)

// Maybe calls f and returns the *Error it panicked with, or nil. Other panics pass through.
func Maybe(f func()) (err error) { return core.Maybe(f) }
