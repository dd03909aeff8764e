// Package device is the interface between symmem and the hardware.
//
// symmem defines every operation: which ranks take part, in which order, with which arguments. A
// Device only provides memory, streams and kernels. Two packages implement it, internal/cuda and
// internal/cpu; both run the sources in kernels/, which are the only implementation of every
// operation.
//
// A Device and everything made from it belong to one process, and may be used from any goroutine;
// calls on one Stream are ordered by the caller. Errors have the types of this package, so that the
// layers above can describe them in the user's terms.
package device

import (
	"io"
	"strings"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// Ptr is an address in the device's address space.
type Ptr = abi.Ptr

// Info describes a device. It never changes.
type Info struct {
	Kind           string // "cpu" or "cuda"
	Name           string // "NVIDIA H200", or the processor's name
	Index          int    // ordinal among the visible devices of its kind
	Arch           string // "sm_90", or GOARCH
	Processors     int    // multiprocessors; on cpu the blocks that run at once
	MaxThreads     int    // threads a block may have
	MaxGrid        [3]int // blocks a grid may have in each dimension
	MaxBlock       [3]int // threads a block may have in each dimension
	SharedPerBlock int    // bytes of shared memory a block may ask for
	Memory         uint64 // bytes of device memory in all
	OnHost         bool   // whether kernels run on the host, in its memory, so that they can wake its threads
	Guards         bool   // whether memory ends at a guard page
	// whether a line of 128 bytes that a warp stores to another device of the host becomes visible
	// at once
	WholeLines   bool
	Multicast    bool   // whether NVLink multicast may be used
	MulticastWhy string // why not; empty when Multicast
	Driver       string // driver and compiler versions in words, for humans
}

// Device is one GPU, or the emulated one.
type Device interface {
	Info() Info

	// Place returns the identity of the device.
	Place() (Place, error)

	// Alloc returns n > 0 bytes of zeroed memory, 256-byte aligned, that only this process can
	// access.
	Alloc(n int) (Ptr, error)
	// Free frees memory of Alloc. Work that uses it must have finished.
	Free(Ptr) error

	// NewSegment returns at least n bytes of zeroed memory that other processes can import.
	NewSegment(n int) (Segment, error)
	// ImportSegment maps a segment of n bytes (the owner's Segment.Size) that another process
	// exported. It consumes fd, also on failure.
	ImportSegment(fd, n int) (Segment, error)

	// MapHost returns the device address of n bytes of host memory, which begin and end at page
	// boundaries and must exist until UnmapHost.
	MapHost(p unsafe.Pointer, n int) (Ptr, error)
	// UnmapHost undoes MapHost. Work that uses the memory must have finished.
	UnmapHost(p unsafe.Pointer) error

	// Peek reads and Poke writes device memory, this process's or a mapped peer's, at once,
	// independently of streams.
	Peek(dst []byte, src Ptr) error
	Poke(dst Ptr, value uint32) error

	// Copier returns the net_copier (net/proxy/copier.h) by which the network engine copies data of
	// this device, valid as long as the device, or nil if device memory is host memory.
	Copier() (unsafe.Pointer, error)

	// MatMulLibrary returns the name of the library that Stream.MatMul uses, or why there is none.
	MatMulLibrary() (name, why string)

	// Watch returns the page that kernels and host share: see Watch.
	Watch() *Watch

	NewStream() (Stream, error)
	NewEvent() (Event, error)

	// Builtin returns an operation of kernels/ by its extern "C" name. If ranks is not 0, the
	// kernel only supports groups of that size, and may be faster for them.
	Builtin(name string, ranks int) (Kernel, error)
	// Compile turns a CUDA C++ snippet into a module. A fault in the text is a *CompileError.
	Compile(Source) (Module, error)

	// Close releases everything. No other method may be running.
	Close() error
}

// Adopter is a device that takes memory of another program for its own.
type Adopter interface {
	// AdoptSegment is ImportSegment of memory that another program has made. Other processes can
	// import the result.
	AdoptSegment(fd, n int) (Segment, error)
}

// MulticastDevice is a device whose memory can be accessed together with that of other devices by
// one address, if [Info].Multicast is set.
type MulticastDevice interface {
	// NewMulticast makes an object for n devices, each in its own process, and segments of the
	// given size. ImportMulticast imports an object of that size that another process exported; it
	// closes fd.
	NewMulticast(n, size int) (Multicast, error)
	ImportMulticast(fd, size int) (Multicast, error)
}

// Loader is a device that runs kernels which another compiler has compiled.
type Loader interface {
	// Load loads a kernel by its name in code, an Image's of package kernelfile. It is the module's
	// only one. Its parameters have neither names nor types; there are none if the driver cannot
	// tell them.
	Load(code []byte, name string) (Module, error)
}

// Multicast is an address that stands for the same place in the segments of several devices. All
// members join it; then each binds its segment; then each maps it.
type Multicast interface {
	Size() int
	Export() (fd int, err error) // like Segment.Export
	Join() error
	Bind(Segment) error
	Map() (Ptr, error)
	Close() error // undoes all steps; called before the segment is closed
}

// Multicaster is a device that emulates multicast for kernels that include nccl_device.h.
type Multicaster interface {
	// Multicast returns an address that stands for size bytes of all parts of a window, an
	// abi.NcclWindow. Only functions of nccl/multimem.h may use it.
	Multicast(window Ptr, size int) (Ptr, error)
	EndMulticast(Ptr) error
}

// Segment is memory shared between processes.
type Segment interface {
	Ptr() Ptr
	Size() int // bytes mapped; at least what was asked for
	// Export returns a new file descriptor another process can pass to ImportSegment. The caller closes it.
	Export() (fd int, err error)
	Close() error
}

// GuardedSegment is a segment of a device with guard pages.
type GuardedSegment interface {
	Segment
	// Guard makes n bytes of the segment, which begin and end at page boundaries, inaccessible in
	// this process. It may be repeated.
	Guard(offset, n int)
	// Guards returns the number of inaccessible bytes on either side of the segment.
	Guards() int
}

// Source is a snippet to compile.
type Source struct {
	Name string // what errors cite, such as "cell[3]"
	Line int    // the line of Name on which Text starts; 1-based
	Text string
	// Instances lists instances of the text's templates, such as "scale<float>", that become
	// additional kernels.
	Instances []string
	// Library asks for the device headers of the device's library of collectives instead of
	// symmem's headers of the same names. Their communicators are those of
	// Communicator.MakeArgument, and their windows those of Communicator.Register.
	Library bool
}

// LineAt returns a line of the text by its number in errors, or "" if the text has no such line.
func (s Source) LineAt(number int) string {
	lines := strings.Split(s.Text, "\n")
	if i := number - s.Line; i >= 0 && i < len(lines) {
		return strings.TrimRight(lines[i], "\r")
	}
	return ""
}

// Module is a loaded snippet.
type Module interface {
	// Kernels lists the __global__ functions in the order of the text.
	Kernels() []Kernel
	Close() error
}

// Definer is a module whose variables can be set.
type Definer interface {
	// Define sets a variable of a pointer type that the text declares as extern "C", and reports
	// whether there is one of this name. No kernel of the module may be running.
	Define(name string, value Ptr) (bool, error)
}

// Kernel is a __global__ function.
type Kernel interface {
	Name() string
	// Params describes the parameters. The argument buffer of Launch is laid out by their offsets.
	Params() []Param
	// Attributes returns the compiler's data about the kernel.
	Attributes() Attributes
}

// Param is one kernel parameter. Type is its C++ type as written, Name its name; both are empty for
// built-in kernels and loaded ones.
type Param struct {
	Name   string
	Type   string
	Offset int
	Size   int
	// Checked reports whether the parameter is an abi.Checked instead of the pointer in Type: see
	// BoundsChecker.
	Checked bool
}

// Attributes of a compiled kernel, zero where unknown.
type Attributes struct {
	Registers    int // per thread
	StaticShared int // bytes
	Local        int // bytes per thread, spills included
	MaxThreads   int // per block, for this kernel
}

// Launch holds the grid, the arguments and the settings of a launch.
type Launch struct {
	Grid, Block [3]int
	Shared      int    // bytes of dynamic shared memory
	Args        []byte // packed by Params; read before Launch returns
	// Overlap reports whether the kernel calls symm::begin at its start, so that it may be launched
	// while the stream's previous kernel still runs.
	Overlap bool
}

// Stream is a queue of device work, run in order and asynchronously to the host.
type Stream interface {
	Launch(Kernel, Launch) error
	// Copy moves n bytes between device addresses, peers' included.
	Copy(dst, src Ptr, n int) error
	// CopyAll makes several copies, in any order, with copy engines: no multiprocessor takes part.
	CopyAll([]Copy) error
	// Values executes the operations in order. Whoever sees the value of a store also sees the
	// stream's earlier effects. A stream that awaits a value cannot be aborted: Poke the value.
	Values([]Value) error
	// MatMul multiplies matrices with the device's library. A product that the library does not do is
	// an *UnavailableError, and nothing was queued.
	MatMul(MatMul) error
	// Collective queues a collective of a communicator of this device.
	Collective(Communicator, Collective) error
	// OneSided queues an operation on a heap of this device.
	OneSided(Heap, OneSided) error
	// Write copies host bytes to the device; src may be reused when it returns.
	Write(dst Ptr, src []byte) error
	// Read waits for the stream, and copies device bytes to the host.
	Read(dst []byte, src Ptr) error
	// WriteFrom waits for the stream and fills n bytes of the device with what src has from offset 0
	// on; ReadTo waits for it and gives n bytes of the device to dst, from offset 0 on. Both are over
	// when they return. They call src or dst from several goroutines, for pieces that begin at
	// multiples of PieceSize, and return an error of theirs.
	WriteFrom(dst Ptr, src io.ReaderAt, n int) error
	ReadTo(dst io.WriterAt, src Ptr, n int) error
	// Set fills n bytes with a repeated byte.
	Set(dst Ptr, value byte, n int) error
	// SetWords fills n 32-bit words.
	SetWords(dst Ptr, value uint32, n int) error
	// Record and Wait order streams and measure time.
	Record(Event) error
	Wait(Event) error
	// Synchronize returns when all work is done, or with the first fault. A kernel fault is
	// reported once; the stream is then empty and usable unless the error is a *DriverError with
	// Poisoned set.
	Synchronize() error
	// Idle reports whether all work is done, without waiting.
	Idle() (bool, error)
	// BeginCapture records the following work instead of running it; EndCapture returns the
	// recording. Until then Read, WriteFrom, ReadTo, Synchronize and Alloc fail with ErrCapturing.
	BeginCapture() error
	EndCapture() (Graph, error)
	Close() error
}

// Copy is a copy of n > 0 bytes for Stream.CopyAll.
type Copy struct {
	Dst, Src Ptr
	N        int
}

// Value is an operation for Stream.Values on an aligned 32-bit word, this process's or a mapped
// peer's: store the value, or wait until the word equals it.
type Value struct {
	Word  Ptr
	Value uint32
	Await bool
	From  int // for a trace: 1 more than the member of the call's group whose store ends a wait; 0 if it is not known
}

// MatMul is a product of row-major matrices of floats: Out[M][N] = A[M][K] B[K][N]. Types are written "bf16".
type MatMul struct {
	Out, A, B      Ptr
	M, N, K        int
	Type, OutType  string // OutType is Type or "f32"; of "f8e4m3" it is "f32", "f16" or "bf16"
	Flipped        bool   // B is B[N][K]
	ScaleA, ScaleB Ptr    // f32, of "f8e4m3" only: the product is multiplied by them; 0 for 1
	Scales         bool   // they have one for each row of A and column of B, not one each
	Workspace      Ptr    // for the library's use, until the product is done
	WorkspaceSize  int
}

// Graph is a captured sequence of work.
type Graph interface {
	Launch(Stream) error
	Close() error
}

// Event marks a place in a stream.
type Event interface {
	// Synchronize waits until the event was reached.
	Synchronize() error
	// Reached reports whether it was, or was never recorded. It does not wait.
	Reached() (bool, error)
	// Since returns the microseconds from an earlier event; both must have been reached.
	Since(Event) (float64, error)
	Close() error
}
