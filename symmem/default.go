package symmem

import (
	"context"
	"time"
)

// The functions of this file act on the world that Init made last, by the methods of the same
// names.

// Rank is this rank's number among all ranks.
func Rank() int { return now().Rank() }

// WorldSize is the number of ranks.
func WorldSize() int { return now().Size() }

// World is the group of all ranks.
func World() *Group { return now().Group() }

// LSA is the team of the ranks on this rank's host: see [Group.LSA].
func LSA() *Group { return World().LSA() }

// Rail is the team of this rank's counterparts on the other hosts: see [Group.Rail].
func Rail() *Group { return World().Rail() }

// NewGroup makes a group of some ranks: see [Runtime.NewGroup].
func NewGroup(ranks ...int) *Group { return now().NewGroup(ranks...) }

// NewNamedGroup is NewGroup with a name: see [Runtime.NewNamedGroup].
func NewNamedGroup(name string, ranks ...int) *Group { return now().NewNamedGroup(name, ranks...) }

// GroupNamed finds a group by its name: see [Runtime.GroupNamed].
func GroupNamed(name string) *Group { return now().GroupNamed(name) }

// Empty returns a symmetric tensor of zeros: see [Runtime.Empty].
func Empty(dtype DType, shape ...int) *Tensor { return now().Empty(dtype, shape...) }

// Local returns an ordinary tensor of zeros: see [Runtime.Local].
func Local(dtype DType, shape ...int) *Tensor { return now().Local(dtype, shape...) }

// Host returns a tensor of zeros in pinned memory of the host: see [Runtime.Host].
func Host(dtype DType, shape ...int) *Tensor { return now().Host(dtype, shape...) }

// FromTorch returns a tensor of the program to which the session is attached: see [Runtime.FromTorch].
func FromTorch(name string) *Tensor { return now().FromTorch(name) }

// SetDefaultDType sets the type that [Default] stands for: see [Runtime.SetDefaultDType].
func SetDefaultDType(dtype DType) { now().SetDefaultDType(dtype) }

// DefaultDType is the type that [Default] stands for: see [Runtime.DefaultDType].
func DefaultDType() DType { return now().DefaultDType() }

// Load returns a tensor of a file: see [Runtime.Load].
func Load(path string, args ...any) *Tensor { return now().Load(path, args...) }

// FileTensors lists the tensors of a file: see [Runtime.FileTensors].
func FileTensors(path string) []FileTensor { return now().FileTensors(path) }

// SaveFile writes tensors to one file: see [Runtime.SaveFile].
func SaveFile(tensors map[string]*Tensor, path string, opts ...Option) {
	now().SaveFile(tensors, path, opts...)
}

// Rendezvous maps the peers' copies of a symmetric tensor: see [Runtime.Rendezvous].
func Rendezvous(t *Tensor, opts ...Option) *Handle { return now().Rendezvous(t, opts...) }

// Window returns a symmetric tensor as a window of NCCL's device API: see [Runtime.Window].
func Window(t *Tensor, opts ...Option) *DeviceWindow { return now().Window(t, opts...) }

// DevComm returns a group as a communicator of NCCL's device API: see [Runtime.DevComm].
func DevComm(reqs DevReqs, opts ...Option) *DeviceComm { return now().DevComm(reqs, opts...) }

// Sanitize watches every access of kernels from now on, or no longer: see [Runtime.Sanitize].
func Sanitize(on bool, seed int64) { now().Sanitize(on, seed) }

// Findings returns the sanitizer's findings since its last call: see [Runtime.Findings].
func Findings() []Finding { return now().Findings() }

// Slow makes calls of some ranks begin late from now on: see [Runtime.Slow].
func Slow(setting string) { now().Slow(setting) }

// OneShotAllReduce combines the ranks' copies of a tensor: see [Runtime.OneShotAllReduce].
func OneShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return now().oneShot(t, op, nil, opts)
}

// OneShotAllReduceOut is OneShotAllReduce into a tensor: see [Runtime.OneShotAllReduceOut].
func OneShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	now().OneShotAllReduceOut(t, op, out, opts...)
}

// AllReduce combines the ranks' copies of a tensor in place: see [Runtime.AllReduce].
func AllReduce(t *Tensor, op string, opts ...Option) *Tensor { return now().AllReduce(t, op, opts...) }

// TwoShotAllReduce is AllReduce in two shots: see [Runtime.TwoShotAllReduce].
func TwoShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return now().TwoShotAllReduce(t, op, opts...)
}

// TwoShotAllReduceOut is TwoShotAllReduce into a tensor: see [Runtime.TwoShotAllReduceOut].
func TwoShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	now().TwoShotAllReduceOut(t, op, out, opts...)
}

// ReduceScatter combines the ranks' copies of a tensor and gives each a part: see
// [Runtime.ReduceScatter].
func ReduceScatter(t *Tensor, op string, opts ...Option) *Tensor {
	return now().ReduceScatter(t, op, opts...)
}

// ReduceScatterOut is ReduceScatter into a tensor: see [Runtime.ReduceScatterOut].
func ReduceScatterOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	now().ReduceScatterOut(t, op, out, opts...)
}

// AllGatherMatMul multiplies all ranks' rows: see [Runtime.AllGatherMatMul].
func AllGatherMatMul(a *Tensor, bs []*Tensor, opts ...Option) (all *Tensor, products []*Tensor) {
	return now().AllGatherMatMul(a, bs, opts...)
}

// AllGatherMatMulOut is AllGatherMatMul into tensors: see [Runtime.AllGatherMatMulOut].
func AllGatherMatMulOut(a *Tensor, bs []*Tensor, all *Tensor, products []*Tensor, opts ...Option) {
	now().AllGatherMatMulOut(a, bs, all, products, opts...)
}

// MatMulReduceScatter adds up the ranks' products and gives each its rows: see
// [Runtime.MatMulReduceScatter].
func MatMulReduceScatter(a, b *Tensor, op string, opts ...Option) *Tensor {
	return now().MatMulReduceScatter(a, b, op, opts...)
}

// MatMulReduceScatterOut is MatMulReduceScatter into a tensor: see [Runtime.MatMulReduceScatterOut].
func MatMulReduceScatterOut(a, b *Tensor, op string, out *Tensor, opts ...Option) {
	now().MatMulReduceScatterOut(a, b, op, out, opts...)
}

// AllGather returns all ranks' tensors in a row: see [Runtime.AllGather].
func AllGather(t *Tensor, opts ...Option) *Tensor { return now().AllGather(t, opts...) }

// AllGatherOut is AllGather into a tensor: see [Runtime.AllGatherOut].
func AllGatherOut(t, out *Tensor, opts ...Option) { now().AllGatherOut(t, out, opts...) }

// AllToAll gives every rank a part of every rank's tensor: see [Runtime.AllToAll].
func AllToAll(t *Tensor, opts ...Option) *Tensor { return now().AllToAll(t, opts...) }

// AllToAllOut is AllToAll into a tensor: see [Runtime.AllToAllOut].
func AllToAllOut(t, out *Tensor, opts ...Option) { now().AllToAllOut(t, out, opts...) }

// Broadcast gives every rank the root's values: see [Runtime.Broadcast].
func Broadcast(t *Tensor, root int, opts ...Option) *Tensor {
	return now().Broadcast(t, root, opts...)
}

// MultimemAllReduce sums the ranks' copies of a tensor by multicast: see
// [Runtime.MultimemAllReduce].
func MultimemAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return now().MultimemAllReduce(t, op, opts...)
}

// MultimemOneShotAllReduce is MultimemAllReduce in one shot: see
// [Runtime.MultimemOneShotAllReduce].
func MultimemOneShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return now().MultimemOneShotAllReduce(t, op, opts...)
}

// MultimemOneShotAllReduceOut is that into a tensor: see [Runtime.MultimemOneShotAllReduceOut].
func MultimemOneShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	now().MultimemOneShotAllReduceOut(t, op, out, opts...)
}

// MultimemOneShotReduceOut is that on the root alone: see [Runtime.MultimemOneShotReduceOut].
func MultimemOneShotReduceOut(t *Tensor, op string, root int, out *Tensor, opts ...Option) {
	now().MultimemOneShotReduceOut(t, op, root, out, opts...)
}

// MultimemAllGatherOut is AllGatherOut by multicast: see [Runtime.MultimemAllGatherOut].
func MultimemAllGatherOut(t, out *Tensor, opts ...Option) {
	now().MultimemAllGatherOut(t, out, opts...)
}

// NewTokenSwitch makes a switch of tokens among experts: see [Runtime.NewTokenSwitch].
func NewTokenSwitch(config TokenSwitchConfig, opts ...Option) *TokenSwitch {
	return now().NewTokenSwitch(config, opts...)
}

// UseMemPool calls f with tensors from a memory pool: see [Runtime.UseMemPool].
func UseMemPool(f func(), opts ...Option) { now().UseMemPool(f, opts...) }

// GetMemPool returns a memory pool: see [Runtime.GetMemPool].
func GetMemPool(opts ...Option) *MemPool { return now().GetMemPool(opts...) }

// MemPoolStats describes a memory pool: see [Runtime.MemPoolStats].
func MemPoolStats(opts ...Option) PoolStats { return now().MemPoolStats(opts...) }

// Compile turns CUDA C++ into a kernel: see [Runtime.Compile].
func Compile(text string, instances ...string) *Kernel { return now().Compile(text, instances...) }

// CompileAt is Compile with a position: see [Runtime.CompileAt].
func CompileAt(name string, line int, text string, instances ...string) *Kernel {
	return now().CompileAt(name, line, text, instances...)
}

// LoadKernel loads a kernel that was compiled elsewhere: see [Runtime.LoadKernel].
func LoadKernel(path, name string, params ParamList) *Kernel {
	return now().LoadKernel(path, name, params)
}

// Synchronize waits for all work of this rank: see [Runtime.Synchronize].
func Synchronize() { now().Synchronize() }

// NewStream returns another queue of work: see [Runtime.NewStream].
func NewStream() *Stream { return now().NewStream() }

// OnStream calls f with s as the current stream: see [Runtime.OnStream].
func OnStream(s *Stream, f func()) { now().OnStream(s, f) }

// Async calls f with a stream of its own: see [Runtime.Async].
func Async(f func()) *Work { return now().Async(f) }

// NewEvent returns an event: see [Runtime.NewEvent].
func NewEvent() *Event { return now().NewEvent() }

// Elapsed measures the device time of the work that f issues: see [Runtime.Elapsed].
func Elapsed(f func()) time.Duration { return now().Elapsed(f) }

// Measure measures the device time of one call of f in a graph: see [Runtime.Measure].
func Measure(f func()) Runs { return now().Measure(f) }

// MeasureRuns measures runs of f that all ranks begin together: see [Runtime.MeasureRuns].
func MeasureRuns(n int, f func()) Runs { return now().MeasureRuns(n, f) }

// MeasureTurns measures two pieces of code in turns: see [Runtime.MeasureTurns].
func MeasureTurns(n int, f, g func()) Turns { return now().MeasureTurns(n, f, g) }

// Compare runs code by each way that its calls can take: see [Runtime.Compare].
func Compare(f func(), others ...func()) Comparison { return now().Compare(f, others...) }

// Capture records the work that f issues: see [Runtime.Capture].
func Capture(f func()) *Graph { return now().Capture(f) }

// Explain describes the execution of the operations of f: see [Runtime.Explain].
func Explain(f func()) string { return now().Explain(f) }

// Trace records all ranks during f: see [Runtime.Trace].
func Trace(f func()) *Timeline { return now().Trace(f) }

// Caps describes the device: see [Runtime.Caps].
func Caps() Capabilities { return now().Caps() }

// SetBackend chooses how symmetric memory is made: see [Runtime.SetBackend].
func SetBackend(name string) { now().SetBackend(name) }

// GetBackend returns the name of the back end that makes symmetric memory: see [Runtime.Backend].
func GetBackend() string { return now().Backend() }

// Backends lists all back ends, and reports whether this world can use each: see
// [Runtime.Backends].
func Backends() []BackendStatus { return now().Backends() }

// IsNvshmemAvailable reports whether the back end NVSHMEM is there: see
// [Runtime.IsNvshmemAvailable].
func IsNvshmemAvailable() bool { return now().IsNvshmemAvailable() }

// SetSignalPadSize sets the size of the signal pads of later tensors: see
// [Runtime.SetSignalPadSize].
func SetSignalPadSize(n int) { now().SetSignalPadSize(n) }

// GetSignalPadSize returns the size of the signal pads of later tensors: see
// [Runtime.SignalPadSize].
func GetSignalPadSize() int { return now().SignalPadSize() }

// StreamWriteValue32 stores a word in the order of the stream: see [Runtime.StreamWriteValue32].
func StreamWriteValue32(t *Tensor, offset, val int, opts ...Option) {
	now().StreamWriteValue32(t, offset, val, opts...)
}

// Memset32 sets words in the order of the stream: see [Runtime.Memset32].
func Memset32(t *Tensor, offset, val, count int, opts ...Option) {
	now().Memset32(t, offset, val, count, opts...)
}

// Map calculates a tensor by a formula: see [Runtime.Map].
func Map(formula string, args ...any) *Tensor { return now().Map(formula, args...) }

// Reduce reduces a tensor by a formula: see [Runtime.Reduce].
func Reduce(formula string, args ...any) *Tensor { return now().Reduce(formula, args...) }

// Add is x + y: see [Runtime.Add].
func Add(x, y any, opts ...Option) *Tensor { return now().Add(x, y, opts...) }

// Sub is x - y: see [Runtime.Sub].
func Sub(x, y any, opts ...Option) *Tensor { return now().Sub(x, y, opts...) }

// Mul is x * y: see [Runtime.Mul].
func Mul(x, y any, opts ...Option) *Tensor { return now().Mul(x, y, opts...) }

// Div is x / y: see [Runtime.Div].
func Div(x, y any, opts ...Option) *Tensor { return now().Div(x, y, opts...) }

// Where picks elements by a condition: see [Runtime.Where].
func Where(cond, x, y any, opts ...Option) *Tensor { return now().Where(cond, x, y, opts...) }

// Concatenate joins tensors: see [Runtime.Concatenate].
func Concatenate(dim int, args ...any) *Tensor { return now().Concatenate(dim, args...) }

// Equal compares two tensors: see [Runtime.Equal].
func Equal(x *Tensor, y any) bool { return now().Equal(x, y) }

// AllClose compares two tensors within tolerances: see [Runtime.AllClose].
func AllClose(x *Tensor, y any, tolerances ...float64) bool {
	return now().AllClose(x, y, tolerances...)
}

// MaxDiff is the largest difference of two tensors: see [Runtime.MaxDiff].
func MaxDiff(x *Tensor, y any) float64 { return now().MaxDiff(x, y) }

// MatMul multiplies matrices: see [Runtime.MatMul].
func MatMul(out, a, b *Tensor, opts ...Option) *Tensor { return now().MatMul(out, a, b, opts...) }

// PendingSignals lists signals that no wait has consumed: see [Runtime.PendingSignals].
func PendingSignals() []string { return now().PendingSignals() }

// ClearedSignals lists the signals that no wait had consumed when they were cleared last: see
// [Runtime.ClearedSignals].
func ClearedSignals() []string { return now().ClearedSignals() }

// Survivors makes a group of the ranks that are left: see [Runtime.Survivors].
func Survivors() *Group { return now().Survivors() }

// Recover makes communication sound again after a wait was given up: see [Runtime.Recover].
func Recover() {
	if _, err := now().Recover(context.Background(), nil); err != nil {
		panic(err)
	}
}

// AllToAllVDev sends rows by splits on the device: see [Runtime.AllToAllVDev].
func AllToAllVDev(in, out, inSplits, outSplitsOffsets *Tensor, opts ...Option) {
	now().AllToAllVDev(in, out, inSplits, outSplitsOffsets, opts...)
}

// AllToAllVDev2D sends rows to experts: see [Runtime.AllToAllVDev2D].
func AllToAllVDev2D(in, out, inSplits, outSplitsOffsets *Tensor, opts ...Option) {
	now().AllToAllVDev2D(in, out, inSplits, outSplitsOffsets, opts...)
}

// AllToAllVDev2DOffset sends rows back from experts: see [Runtime.AllToAllVDev2DOffset].
func AllToAllVDev2DOffset(in, out, inSplitsOffsets, outSplitsOffsets *Tensor, opts ...Option) {
	now().AllToAllVDev2DOffset(in, out, inSplitsOffsets, outSplitsOffsets, opts...)
}

// TileReduce combines the ranks' tiles on a root: see [Runtime.TileReduce].
func TileReduce(in, out *Tile, root int, op string, opts ...Option) {
	now().TileReduce(in, out, root, op, opts...)
}

// MultiRootTileReduce combines tiles, each on a root of its own: see [Runtime.MultiRootTileReduce].
func MultiRootTileReduce(in []*Tile, out *Tile, roots []int, op string, opts ...Option) {
	now().MultiRootTileReduce(in, out, roots, op, opts...)
}

// ReduceScatterOffset combines blocks of any size, each on a rank: see
// [Runtime.ReduceScatterOffset].
func ReduceScatterOffset(t *Tensor, out []*Tensor, dim int, offsets, dstRanks []int, op string, opts ...Option) {
	now().ReduceScatterOffset(t, out, dim, offsets, dstRanks, op, opts...)
}

// AllToAllPermute is an all-to-all that moves a dimension: see [Runtime.AllToAllPermute].
func AllToAllPermute(in, out *Tensor, scatter, gather int, opts ...Option) {
	now().AllToAllPermute(in, out, scatter, gather, opts...)
}
