package symmem

import (
	"time"

	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

// Option is an optional last argument of an operation: a *Group, a *Stream, or one that a function
// of this package makes: [Timeout], [AccumulateF32], [SplitLastDim], [CopyEngine], [MajorAlign],
// [Weak], [Via], [Into], [Shard], [Ordinary], [Along], [Scales], [TransposedB]. Every operation
// that is put in a stream takes the first three; docs/ops.md has a table of the others. An
// operation refuses options for which it has no use.
type Option = core.Option

// AccumulateF32 makes a reduction of f16 or bf16 add in f32 and round once at the end, as reductions
// of 8-bit floats always do. Without it every step rounds to the element type: the result then equals,
// bit for bit, the result of PyTorch's one-shot and two-shot kernels.
func AccumulateF32() Option { return core.Flag(operators.AccumulateF32) }

// SplitLastDim makes ReduceScatter split the last dimension instead of the first one.
func SplitLastDim() Option { return core.Flag(operators.SplitLastDim) }

// CopyEngine makes AllGather and AllToAll use no multiprocessor, and ReduceScatter use one only to
// add up the values that copy engines have brought: the members' streams meet by memory operations
// and copy engines read the peers' tensors, so that a kernel which runs beside it on another stream
// keeps the whole GPU. It is slower for small messages. AllToAll is best given a symmetric t, which
// needs no copy, and AllGather t as its own part of out: otherwise the driver copies that part
// within the GPU, and other work on the GPU slows this copy down. Peers' memory is only read: after
// a wait that was given up this rank's result is undefined, and nothing else. [Explain] reports
// that it ran. NCCL calls it a zero-CTA policy, and PyTorch _low_contention_all_gather; with
// Via("NCCL") NCCL does it, of t and out that are symmetric.
func CopyEngine() Option { return core.Flag(operators.CopyEngine) }

// Weak makes the signal of PutWithSignal or SignalAdd cover its own put only. Without Weak, a rank that
// sees the signal sees all earlier puts of the sender to it. A weak signal does not wait for earlier
// puts on the network, which may be slower; inside a host there is no difference.
func Weak() Option { return core.Flag(operators.Weak) }

// Via makes a collective take a way, instead of the quickest way for the size. Groups that span
// hosts have "flat", in which every member sends its data to every member of the other hosts
// directly; and "hierarchical", in which the members of a host share the work, and every byte
// crosses to each host once, between counterparts: see [Group.Rail]. Both give the same bits.
// "NCCL" is NVIDIA's library, for any group on GPUs; if all hosts have the library, groups that
// span hosts use it by default. The first call of a group makes its communicator, for which the
// members meet on the host, so that this call must not be captured; later calls may. NCCL has no
// Timeout, AccumulateF32 or SplitLastDim, no avg of integers, and two ranks on one GPU only from
// 2.30.3 on with NCCL_MULTI_RANK_GPU_ENABLE=1. With CopyEngine its copy engines do AllGatherOut and
// AllToAllOut of rendezvoused tensors, where the back end NCCL has made them windows. There
// [Handle.Put] and [Handle.PutWithSignal] take "NCCL", too.
//
// "NVSHMEM" is NVIDIA's library of one-sided operations, with the back end NVSHMEM, for Put, Get,
// PutWithSignal, SignalAdd, WaitForSignal, PutSignal, WaitSignal and Barrier of a [Handle]; with it
// the waiting ones cannot be captured.
//
// The operation refuses a way of another name, the first two if all ranks are on one host,
// "hierarchical" if the group has more members on one host than on another, a library that cannot
// be used, and a way that the operation does not have. All members of a collective must give the
// same way.
func Via(way string) Option { return core.Via(way) }

// Timeout bounds every wait of an operation on the device. Without it waits last until they are
// satisfied or aborted. The operation refuses a timeout that is not positive.
func Timeout(d time.Duration) Option { return core.Timeout(d) }

// MajorAlign makes every expert's region of the result of AllToAllVDev2D a multiple of n rows, and
// no region empty. The operation refuses an n that is not positive, or greater than the rows of out.
func MajorAlign(n int) Option { return core.MajorAlign(n) }

// Into makes an operation deliver its result in t, instead of memory of its own: Map, Reduce and
// the methods that are formulas of theirs, such as Add, which then allocate nothing and can be
// captured; and a dispatch or a combine of a [TokenSwitch], its rows or its sums. For a dispatch t
// is symmetric and rendezvoused by the switch's group, or a part of such a tensor, the same part on
// all ranks. The operation refuses a t of another type or shape.
func Into(t *Tensor) Option { return core.Into{Tensor: t} }

// Shard makes Load return this member's part of a dimension, and Save write all members' parts one
// after the other along it. PyTorch's DTensor calls it so, and chunk divides so: of n elements and
// m members each gets n/m, rounded up, as far as there are any. The operation refuses a dimension
// that the tensor does not have.
func Shard(dim int) Option { return core.Shard(dim) }

// Along makes Reduce, and the operations that reduce under a name of their own, such as
// [Tensor.Sum], go along a dimension: the result has the others. -1 is the last dimension. The
// operation refuses a dimension that the tensor does not have.
func Along(dim int) Option { return core.Along(dim) }

// Scales makes MatMul multiply a product of 8-bit floats by scales of its factors, which are f32 of
// any memory: one of a and one of b, or one for each row of a and one for each column of b. It is
// PyTorch's scaled_mm. AllGatherMatMul takes a scale, or scales, for each of its factors b. The
// operation refuses scales of another number, and scales of factors that have more than 8 bits.
func Scales(a *Tensor, b ...*Tensor) Option { return core.Scales{A: a, B: b} }

// TransposedB gives a product its second factor, [k, n], as [n, k]: each row is a column of the
// factor, as in the weights of PyTorch's Linear. GPUs multiply 8-bit floats only so.
func TransposedB() Option { return core.Flag(operators.TransposedB) }

// Ordinary makes Load return an ordinary tensor, as Local does, instead of a symmetric one: it then
// concerns this rank alone.
func Ordinary() Option { return core.Flag(operators.Ordinary) }
