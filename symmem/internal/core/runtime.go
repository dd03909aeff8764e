package symmem

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/core/sanitizer"
	"github.com/symmrepl/symmrepl/symmem/internal/core/trace"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Config says what world New builds on a device.
type Config struct {
	Client *bootstrap.Client // to meet the other ranks; nil for a world of one
	Plan   *tuning.Plan      // how the device is best used
	Name   string            // of the device, in messages: "cuda:2"
	// Joining says that this process replaces an earlier one of its rank. New then builds nothing collective: the first
	// collective call is the Recover that the other ranks make too.
	Joining bool
	Caller  func() int // where the program is; nil if it does not say
	Backend string     // how symmetric memory is made: "NCCL"
	Network string     // what carries operations between hosts, and its settings: "null delay=1ms"; empty to let it choose
}

// Runtime is this rank's view of all ranks and of its device. Its methods may be called from several
// goroutines. What belongs together is a struct of its own, in the file that says what becomes of it.
type Runtime struct {
	dev        device.Device
	info       device.Info
	plan       *tuning.Plan
	name       string // of the device
	client     *bootstrap.Client
	rank, size int
	watch      *device.Watch // the page that kernels and the host share
	all        *Group
	first      *Stream // always there

	calls      *calls.Log[Record]          // calls.go
	progress                               // progress.go
	aborting                               // abort.go
	cell                                   // cell.go
	membership                             // survivors.go
	departed   departures                  // departures.go
	sanitizing                             // sanitize.go
	networking                             // network.go
	comms      nccl.List[*communicator]    // nccl_comm.go
	located    memory.Locations[contents]  // contents.go
	local      *memory.Cache[*Stream]      // storage.go
	trace      atomic.Pointer[trace.Trace] // under way, or nil

	closed  atomic.Bool
	looking sync.Mutex // held by who looks at watch, which Close takes away, without a call of the user's
	mu      sync.Mutex // orders what is put in streams, and guards what follows
	world
}

// world is what Runtime.mu guards.
type world struct {
	generation int // counts the worlds rebuilt by Recover
	created    map[string]uint64
	groups     []*Group
	allocs     []*allocation
	streams    []*Stream
	holding    []*Stream // that may hold kernels for which the network engine is kept awake
	current    *Stream
	capture    *Graph    // being captured
	pooling    *Group    // whose memory pool is in use, or nil
	choices    *[]choice // of the innermost Explain, or nil
	builtins   map[builtinKernel]device.Kernel
	padSize    int
	backend    backend
	cleared    []string                 // what ClearedSignals returns
	unreported error                    // a fault met where it could not be reported
	graphs     atomic.Pointer[[]*Graph] // alive; replaced whole, so that who looks need not lock
}

// New builds the world on a device, which Close of the world closes. It is collective over the ranks of the client, unless config.Joining.
func New(dev device.Device, config Config) (*Runtime, error) {
	rt := &Runtime{
		dev: dev, info: dev.Info(), plan: config.Plan, name: config.Name, watch: dev.Watch(), size: 1,
		world: world{generation: 1, padSize: defaultPadSize, created: map[string]uint64{}, builtins: map[builtinKernel]device.Kernel{}},
	}
	rt.choice = networks.Choice(config.Network)
	if rt.info.Guards {
		rt.located.Keep()
	}
	rt.calls = calls.NewLog(config.Caller, func(r *Record) *calls.Entry { return &r.Entry })
	rt.backend = backend{name: config.Backend, session: config.Caller != nil, joining: config.Joining}
	rt.local = rt.newCache()
	rt.sanitizer = sanitizer.Of(dev)
	rt.setGraphs(nil)
	rt.renewHostContext()
	if c := config.Client; c != nil {
		rt.client, rt.rank, rt.size = c, c.Rank(), c.Size()
	}
	if rt.client != nil {
		rt.client.OnLost(rt.lost)
		rt.client.OnLeft(rt.noteDeparture)
	}
	return rt, Maybe(func() { rt.start(config) })
}

// start makes the first stream and the group of all ranks.
func (rt *Runtime) start(config Config) {
	const op = "Init"
	if rt.size > MaxWorld {
		panic(rt.misuse(op, "Client", "", "a world may have at most %d ranks, not %d", MaxWorld, rt.size))
	}
	if msg, hint := rt.choice.Refused(rt.info.OnHost); msg != "" {
		panic(rt.misuse(op, "Network", hint, "%s", msg))
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
	rt.all.splitByHost()
	rt.all.renumber(rt.all.name)
	rt.groups = append(rt.groups, rt.all)
	if config.Joining {
		rt.all.stale.Store(ptr(fmt.Sprintf("rank %d has not joined it yet", rt.rank)))
		return
	}
	rt.buildWorld(op)
}

// Rank is this rank's number among all ranks.
func (rt *Runtime) Rank() int { return rt.rank }

// Size is the number of ranks.
func (rt *Runtime) Size() int { return rt.size }

// Group is the group of all ranks.
func (rt *Runtime) Group() *Group { return rt.all }

// DeviceName is "cuda:2" or "cpu".
func (rt *Runtime) DeviceName() string { return rt.name }

// Meet waits for all work of this rank and then until all ranks have come here. What they put into each other's
// memory before is there afterwards. It is collective over the world.
func (rt *Runtime) Meet() {
	const op = "Meet"
	rt.hostCall(op)
	rt.synchronize(op)
	rt.all.meet(op, "", nil)
}

// Close releases the device and everything in its memory. It does not wait for the other ranks, but for a moment where NCCL may still send them
// something: who still reads this rank's memory keeps it until it lets go. Closing it again does nothing.
func (rt *Runtime) Close() error {
	if !rt.closed.CompareAndSwap(false, true) {
		return nil
	}
	rt.awaitMembers()
	rt.giveUp("the world was closed")
	rt.looking.Lock() // nobody begins to look any more
	defer rt.looking.Unlock()
	rt.StopTrace()
	rt.mu.Lock()
	streams, allocs, groups := rt.streams, rt.allocs, rt.groups
	rt.streams, rt.allocs, rt.groups = nil, nil, nil
	rt.mu.Unlock()
	for _, s := range streams {
		s.synchronize() // what it reports has nobody left to care
	}
	rt.releaseComms()
	var failed error
	if n := rt.net.Swap(nil); n != nil {
		failed = n.Close()
	}
	for _, a := range allocs {
		a.release()
	}
	for _, g := range groups {
		g.emptyPool()
		g.watch.Forget()
		g.work.release()
	}
	for _, s := range streams {
		s.close()
	}
	return errors.Join(failed, rt.dev.Close())
}

// refuseClosed refuses a call after Close, which took the device away.
func (rt *Runtime) refuseClosed(op string) {
	if rt.closed.Load() {
		panic(rt.misuse(op, "", "make another world", "the world was closed"))
	}
}

func ptr[T any](v T) *T { return &v }
