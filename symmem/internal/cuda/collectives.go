package cuda

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/environ"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// The versions of NCCL whose binary interface is known, in the library's numbering. The oldest has
// all-to-all and windows.
const (
	oldestNCCL = 22800
	newestNCCL = 23299
)

// NCCLLibrary is the opened NCCL library.
type NCCLLibrary struct {
	c       clib.NCCL
	path    string
	headers *ncclHeaders // of the library's own version, for kernels with its communicators
	without string       // why there are no headers
	asked   bool         // for windows that may be wrong
}

// ncclOnce opens NCCL for the process.
var ncclOnce = sync.OnceValues(func() (*NCCLLibrary, error) { return openNCCL(libs.ThisHost()) })

// NCCL opens the library, once for each process. The error is an *device.UnavailableError.
func NCCL() (*NCCLLibrary, error) { return ncclOnce() }

// openNCCL opens the first library of the host whose version is known.
func openNCCL(host libs.Host) (*NCCLLibrary, error) {
	return openLibrary(host, libs.NCCL(), func(path string) (*NCCLLibrary, error) {
		n, err := clib.LoadNCCL(path)
		if err != nil {
			return nil, err
		}
		if err := knownNCCL(n.Version()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return newNCCL(host, n, path), nil
	})
}

// newNCCL looks for the headers that go with a library.
func newNCCL(host libs.Host, c clib.NCCL, path string) *NCCLLibrary {
	l := &NCCLLibrary{c: c, path: path, asked: host.Getenv(windowsSetting) == "1"}
	size, _ := c.DeviceComm()
	switch {
	case l.noWindows() != "":
		l.without = l.noWindows()
	case size == 0:
		l.without = "the structures of NCCL " + l.Version() + " that kernels use are not known"
	default:
		var err error
		if l.headers, err = findNCCLHeaders(host, path, c.Version()); err != nil {
			l.headers, l.without = nil, err.Error()
		}
	}
	return l
}

// Headers returns the folder of the library's own device headers, with which snippets can be
// compiled, or the reason why they cannot.
func (l *NCCLLibrary) Headers() (folder, why string) {
	if l.headers == nil {
		return "", l.without
	}
	return l.headers.folder, ""
}

// knownNCCL refuses versions whose structures are not known.
func knownNCCL(version int) error {
	switch {
	case version < oldestNCCL:
		return fmt.Errorf("version %s is older than %s, the oldest that is known", ncclVersion(version), ncclVersion(oldestNCCL))
	case version > newestNCCL:
		return fmt.Errorf("version %s is newer than 2.32, the newest that is known", ncclVersion(version))
	}
	return nil
}

// ncclVersion writes 22809 as "2.28.9".
func ncclVersion(v int) string { return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100) }

// The versions from which kernels on windows can be ended, and from which they wait for the grid
// before them. Without that wait, a kernel on a GPU of sm_90 or newer may begin before the data that
// the grid wrote is visible (NCCL's commit 2948185).
const (
	endingWindows  = 22907
	waitingWindows = 23007
	windowsSetting = "SYMMREPL_NCCL_WINDOWS" // 1 takes windows that do not wait
)

// noWindows returns the reason why tensors do not become windows, or "" if they do.
func (l *NCCLLibrary) noWindows() string {
	switch {
	case l.c.Version() < endingWindows:
		return "kernels of NCCL " + l.Version() + " on windows cannot be aborted; those of 2.29.7 and later can"
	case l.overtakes() && !l.asked:
		return "kernels of NCCL " + l.Version() +
			" on windows may overtake the kernel before them and be silently wrong; those of 2.30.7 and later do not, and " +
			windowsSetting + "=1 takes them all the same"
	}
	return ""
}

// overtakes reports whether kernels on windows may overtake the kernel before them.
func (l *NCCLLibrary) overtakes() bool { return l.c.Version() < waitingWindows }

// puts reports whether the library has one-sided calls to windows.
func (l *NCCLLibrary) puts() bool { return l.noWindows() == "" && l.c.Has(clib.NCCLOneSided) }

// Version returns the version, such as "2.28.9".
func (l *NCCLLibrary) Version() string { return ncclVersion(l.c.Version()) }

// Features lists the library's features, according to its functions and its version.
func (l *NCCLLibrary) Features() []string {
	features := []string{"collectives"}
	if l.noWindows() == "" {
		windows := "windows"
		if l.overtakes() {
			windows += mayBeWrong
		}
		features = append(features, windows)
	}
	if l.headers != nil {
		features = append(features, "device headers")
	}
	if l.c.Has(clib.NCCLDeviceAPI) {
		features = append(features, "device API")
	}
	if l.puts() {
		features = append(features, "puts")
	}
	return features
}

// collectives implements device.Collectives.
type collectives struct {
	d *Device
	l *NCCLLibrary
}

// Collectives implements device.CollectiveDevice.
func (d *Device) Collectives(settings []string) (device.Collectives, error) {
	if err := environ.Complete(settings...); err != nil {
		return nil, err
	}
	l, err := NCCL()
	if err != nil {
		return nil, err
	}
	return collectives{d, l}, nil
}

// mayBeWrong warns of windows that a setting asks for.
const mayBeWrong = " (may be wrong before 2.30.7)"

func (c collectives) Name() string {
	name := "NCCL " + c.l.Version()
	if c.l.noWindows() == "" && c.l.overtakes() {
		name += " with windows" + mayBeWrong
	}
	return name
}

// Headers implements device.Collectives.
func (c collectives) Headers() (why string) { return c.l.without }

// Windows implements device.Collectives.
func (c collectives) Windows() (why string) { return c.l.noWindows() }

// sharing is the first version that has the variable by which several ranks may use one GPU.
const (
	sharing         = 23003
	sharingVariable = "NCCL_MULTI_RANK_GPU_ENABLE"
)

// Shares implements device.Collectives.
func (c collectives) Shares() (why string) {
	on := os.Getenv(sharingVariable)
	switch {
	case c.l.c.Version() < sharing:
		return fmt.Sprintf("%s needs a GPU for each; %s or later does not, with %s=1", c.Name(), ncclVersion(sharing), sharingVariable)
	case on == "" || on == "0":
		return fmt.Sprintf("%s needs a GPU for each unless %s=1 is set for all ranks", c.Name(), sharingVariable)
	}
	return ""
}

func (c collectives) NewID() ([]byte, error) { return c.l.c.NewID(c.d.c) }

// invalidArgument is NCCL's result for a communicator without one-sided calls.
const invalidArgument = 4

// joinTick is the interval in which Join checks whether it was cancelled.
const joinTick = 20 * time.Millisecond

func (c collectives) Join(ctx context.Context, id []byte, rank, size int, engines bool) (device.Communicator, error) {
	comm, err := c.d.c.JoinNCCL(c.l.c, id, rank, size, engines)
	if err != nil {
		return nil, err
	}
	return c.joined(ctx, comm, size)
}

// Fits implements device.Collectives.
func (c collectives) Fits(p uintptr, rank, size int) error {
	if !c.l.c.Has(clib.NCCLRevoke) {
		return fmt.Errorf("%s has no ncclCommRevoke, without which a call that waits in it could not be ended", c.Name())
	}
	m, err := c.d.c.DescribeNCCL(c.l.c, p)
	switch {
	case err != nil:
		return fmt.Errorf("it is no communicator of %s: %w", c.Name(), err)
	case m.Size != size || m.Rank != rank:
		return fmt.Errorf("this process has rank %d of %d in it, and rank %d of %d in the group", m.Rank, m.Size, rank, size)
	case !m.Here:
		return errors.New("it is on another GPU than this rank")
	}
	return nil
}

// Adopt implements device.Collectives.
func (c collectives) Adopt(ctx context.Context, p uintptr, rank, size int) (device.Communicator, error) {
	comm, err := c.d.c.AdoptNCCL(c.l.c, p, rank, size)
	if err != nil {
		return nil, err
	}
	return c.joined(ctx, comm, size)
}

// joined waits until a communicator has joined.
func (c collectives) joined(ctx context.Context, comm clib.NCCLComm, size int) (device.Communicator, error) {
	for {
		done, err := comm.Joined(joinTick)
		if err == nil && !done {
			err = ctx.Err()
		}
		if err != nil {
			comm.Free() // its thread ends the communicator
			return nil, err
		}
		if done {
			argument, abortFlag := c.l.c.DeviceComm()
			return communicator{NCCLComm: comm, library: c.l, size: size, argument: argument, abortFlag: abortFlag}, nil
		}
	}
}

// communicator implements device.Communicator.
type communicator struct {
	clib.NCCLComm
	library             *NCCLLibrary
	size                int // number of members
	argument, abortFlag int // size of an ncclDevComm, and offset of its pointer to the word that ends its waits
}

// Register implements device.Communicator.
func (c communicator) Register(ctx context.Context, p device.Ptr, n int) (uintptr, error) {
	if c.library.noWindows() != "" {
		return 0, nil
	}
	t, err := c.do(ctx, clib.NCCLTask{Kind: clib.NCCLRegister, Ptr: uintptr(p), N: n})
	return t.Window, err
}

// Deregister implements device.Communicator.
func (c communicator) Deregister(ctx context.Context, window uintptr) error {
	_, err := c.do(ctx, clib.NCCLTask{Kind: clib.NCCLDeregister, Window: window})
	return err
}

// MakeArgument implements device.Communicator.
func (c communicator) MakeArgument(ctx context.Context, barriers int, ends device.Ptr) ([]byte, error) {
	t, err := c.do(ctx, clib.NCCLTask{Kind: clib.NCCLMakeDeviceComm, Barriers: barriers})
	if err != nil {
		return nil, err
	}
	// NCCL sets this pointer only for its own kernels, whose waits end with the communicator, and
	// leaves it nil for other kernels.
	binary.NativeEndian.PutUint64(t.DeviceComm[c.abortFlag:], uint64(ends))
	return t.DeviceComm[:c.argument], nil
}

// EndArgument implements device.Communicator.
func (c communicator) EndArgument(ctx context.Context, argument []byte) error {
	_, err := c.do(ctx, clib.NCCLTask{Kind: clib.NCCLEndDeviceComm, DeviceComm: argument})
	return err
}

// Puts implements device.Communicator.
func (c communicator) Puts(ctx context.Context) (why string, err error) {
	if !c.library.puts() {
		return cmp.Or(c.library.noWindows(), "NCCL "+c.library.Version()+" has no one-sided calls"), nil
	}
	_, err = c.do(ctx, clib.NCCLTask{Kind: clib.NCCLReadyPuts})
	var refused *device.LibraryError
	if errors.As(err, &refused) && refused.Code == invalidArgument { // the libraries of all members return the same
		return refused.Text, nil
	}
	return "", err
}

// do lets the communicator's thread run a task.
func (c communicator) do(ctx context.Context, t clib.NCCLTask) (clib.NCCLTask, error) {
	if !c.Ask(t) {
		return t, errors.New("the communicator was ended")
	}
	for {
		done, t, err := c.Answered(joinTick)
		switch {
		case done:
			return t, err
		case ctx.Err() != nil:
			c.End(true)
			return t, ctx.Err()
		}
	}
}

// NCCL's numbers of element types and reductions.
var (
	ncclTypes = map[string]int{"i8": 0, "u8": 1, "i32": 2, "u32": 3, "i64": 4, "u64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}
	ncclOps   = map[string]int{"": 0, "sum": 0, "max": 2, "min": 3, "avg": 4}
	ncclKinds = map[device.CollectiveKind]clib.NCCLKind{device.AllReduce: clib.NCCLAllReduce, device.ReduceScatter: clib.NCCLReduceScatter,
		device.AllGather: clib.NCCLAllGather, device.AllToAll: clib.NCCLAllToAll, device.Broadcast: clib.NCCLBroadcast,
		device.Put: clib.NCCLPut}
)

// Collective implements device.Stream.
func (s *Stream) Collective(c device.Communicator, d device.Collective) error {
	t, ok := ncclTypes[d.Type]
	op, ok2 := ncclOps[d.Reduction]
	if !ok || !ok2 {
		return fmt.Errorf("NCCL has no %q of %s", d.Reduction, d.Type)
	}
	comm := c.(communicator)
	call := clib.NCCLCall{Kind: ncclKinds[d.Kind], Src: uintptr(d.Src), Dst: uintptr(d.Dst), N: d.N, Type: t, Op: op, Root: d.Root,
		Window: d.Window, Offset: d.Offset}
	if d.Kind == device.AllReduce && d.Reduction == "avg" && comm.library.noWindows() == "" {
		// For an average on windows, NCCL 2.30 to 2.32 choose a kernel that does not exist, and
		// fail. Without windows they average in the following way.
		call.Scaled, call.Factor = true, reciprocal(comm.size, d.Type)
	}
	return comm.Run(s.c, call)
}

// reciprocal returns the bits of 1/n in a floating-point type.
func reciprocal(n int, name string) uint64 {
	t := element.F16
	for t.String() != name {
		t++
	}
	bits, _ := t.EncodeFloat(1 / float64(n))
	return bits
}
