package symmem

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Config says what Init builds.
type Config struct {
	Device  string            // "auto" (the default), "cpu" or "cuda"
	Index   int               // which device of its kind on this host
	Backend string            // "" for the device's own: "CPU" or "CUDA"
	Client  *bootstrap.Client // to meet the other ranks; nil for a world of one
	// Joining says that this process replaces an earlier one of its rank. Init then builds nothing
	// collective: the first collective call is the Recover that the other ranks make too.
	Joining bool
	// Caller says where the program is, as a number of its own; Caller and Replayed of Error and Wait repeat what it said when the work
	// was issued that they are about. It is called often and must be quick. nil if the program does not care.
	Caller func() int
}

// Runtime is this rank's view of all ranks and of its device. Its methods may be called from several
// goroutines.
type Runtime struct {
	dev        device.Device
	info       device.Info
	client     *bootstrap.Client
	meeting    *meeting // of Start; nil when the client is somebody else's
	rank, size int
	watch      *device.Watch
	all        *Group
	first      *Stream // always there
	calls      callLog

	abort   atomic.Pointer[string]   // why waits must end; nil in peace
	broken  atomic.Pointer[string]   // the collective operation that was given up; nil in peace
	graphs  atomic.Pointer[[]*Graph] // alive; replaced whole
	hostCtx atomic.Pointer[hostContext]
	hosts   atomic.Pointer[[][]int] // all ranks by host; nil while this one joins
	trace   atomic.Pointer[trace]   // under way, or nil

	mu         sync.Mutex // guards what follows, and the order of what is put in streams
	generation int        // counts the worlds rebuilt by Recover
	created    map[string]uint64
	groups     []*Group
	allocs     []*allocation
	streams    []*Stream
	current    *Stream
	capture    *Graph    // being captured
	pooling    *Group    // whose memory pool is in use, or nil
	choices    *[]choice // of the innermost Explain, or nil
	builtins   map[builtinKernel]device.Kernel
	modules    map[source]*module
	local      cache
	padSize    int
	unreported error // a fault met where it could not be reported
}

// hostContext is what host-side waits of one peaceful period end with.
type hostContext struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// current world of the package functions, set by Init.
var latest atomic.Pointer[Runtime]

// Init opens the device and builds the world of config. It is collective over all ranks of the client, unless
// config.Joining. The world becomes the one that the package functions act on. If its ranks are on several hosts, they share no
// memory: what needs all of them is refused, and groups of the ranks of one host communicate.
func Init(config Config) (*Runtime, error) {
	dev, err := open(config)
	if err != nil {
		rank := 0
		if config.Client != nil {
			rank = config.Client.Rank()
		}
		return nil, (&Runtime{rank: rank}).failure("Init", err)
	}
	rt, err := newRuntime(dev, config)
	if err != nil {
		dev.Close()
		return nil, err
	}
	latest.Store(rt)
	return rt, nil
}

// newRuntime builds the world on a device.
func newRuntime(dev device.Device, config Config) (*Runtime, error) {
	rt := &Runtime{
		dev: dev, info: dev.Info(), watch: dev.Watch(), size: 1, generation: 1, padSize: defaultPadSize,
		created: map[string]uint64{}, builtins: map[builtinKernel]device.Kernel{}, modules: map[source]*module{},
	}
	rt.calls.caller, rt.calls.places = func() int { return 0 }, map[string]int{}
	if config.Caller != nil {
		rt.calls.caller = config.Caller
	}
	rt.setGraphs(nil)
	rt.renewHostContext()
	if c := config.Client; c != nil {
		rt.client, rt.rank, rt.size = c, c.Rank(), c.Size()
	}
	return rt, Maybe(func() { rt.build(config) })
}

// open picks the device.
func open(config Config) (device.Device, error) {
	kind := config.Device
	if kind == "" || kind == "auto" {
		kind = "cpu"
		if n, err := cuda.Count(); err == nil && n > 0 {
			kind = "cuda"
		}
	}
	switch kind {
	case "cpu":
		return cpu.Open(config.Index)
	case "cuda":
		return cuda.Open(config.Index)
	}
	return nil, &device.UnavailableError{Kind: kind, Why: "there is no such kind of device", Hint: `"auto", "cpu" and "cuda" are`}
}

// build makes the first stream and the group of all ranks.
func (rt *Runtime) build(config Config) {
	const op = "Init"
	if rt.size > MaxRanks {
		panic(rt.misuse(op, "Client", "", "a world may have at most %d ranks, not %d", MaxRanks, rt.size))
	}
	if config.Backend != "" {
		rt.SetBackend(config.Backend)
	}
	s, err := rt.newStream()
	if err != nil {
		panic(rt.failure(op, err))
	}
	rt.first, rt.current = s, s
	rt.preload()
	ranks := make([]int, rt.size)
	for i := range ranks {
		ranks[i] = i
	}
	rt.all = &Group{rt: rt, name: "world", ranks: ranks, rank: rt.rank}
	rt.all.renew(rt.all.name)
	rt.groups = append(rt.groups, rt.all)
	if config.Joining {
		rt.all.stale.Store(ptr(fmt.Sprintf("rank %d has not joined it yet", rt.rank)))
		return
	}
	rt.furnishWorld(op)
}

// now returns the world that Init made.
func now() *Runtime {
	rt := latest.Load()
	if rt == nil {
		panic(&Error{Kind: KindMisuse, Op: "symmem", Peer: -1, Msg: "there is no world yet", Hint: "call symmem.Start or symmem.Init first"})
	}
	return rt
}

// Rank is this rank's number among all ranks.
func (rt *Runtime) Rank() int { return rt.rank }

// Size is the number of ranks.
func (rt *Runtime) Size() int { return rt.size }

// Group is the group of all ranks.
func (rt *Runtime) Group() *Group { return rt.all }

// Close releases the device and everything in its memory. It does not wait for the other ranks: who still
// reads this rank's memory keeps it until it lets go. That of a runtime of [Start] is described there.
func (rt *Runtime) Close() error {
	rt.Abort("the world was closed")
	rt.StopTrace()
	rt.mu.Lock()
	streams, allocs, groups := rt.streams, rt.allocs, rt.groups
	rt.streams, rt.allocs, rt.groups = nil, nil, nil
	rt.mu.Unlock()
	for _, s := range streams {
		s.synchronize() // what it reports has nobody left to care
	}
	for _, a := range allocs {
		a.release()
	}
	for _, g := range groups {
		g.emptyPool()
		g.watch.forget(g)
		g.work.release()
	}
	for _, s := range streams {
		s.close()
	}
	latest.CompareAndSwap(rt, nil)
	err := rt.dev.Close()
	if rt.meeting != nil {
		rt.meeting.close()
	}
	return err
}

// bytesOf is the memory of a kernel's arguments.
func bytesOf[T any](args *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(args)), unsafe.Sizeof(*args))
}

func ptr[T any](v T) *T { return &v }

// joined writes a list of ranks: "0,2".
func joined(ranks []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ","), "[]")
}
