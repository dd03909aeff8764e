package symmem

import (
	"sync"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calculate"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nvshmem"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/core/study"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Config describes the world that New builds on a device.
type Config struct {
	Client *bootstrap.Client // to meet the other ranks; nil for a world of one
	Plan   *tuning.Plan      // how the device is best used
	Name   string            // of the device, in messages: "cuda:2"
	// Joining reports whether this process replaces an earlier one of its rank. New then builds
	// nothing collective: the first collective call is the Recover that the other ranks make too.
	Joining bool
	Caller  func() int          // where the program is; nil if it does not say
	Line    func(at int) string // the line of such a place: "cell[3]:7"; nil if the program does not say
	Backend string              // how symmetric memory is made: "NCCL"
	Network string              // the network between hosts, and its settings: "null delay=1ms"; empty to let it choose
	// Lend returns a tensor of the program that lends them to this world, for FromTorch; nil if there is
	// no such program.
	Lend lender
}

// Runtime is this rank's view of all ranks and of its device. Its methods may be called from
// several goroutines. Fields that belong together are a struct of their own, in the file whose
// methods change them.
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
	parts      []seam.Part[*Group, *allocation]
	carriers   []carrier

	calls       *calls.Log[Record]         // calls.go
	progress                               // progress.go
	aborting                               // abort.go
	cell                                   // cell.go
	membership                             // survivors.go
	departed    places.Departures          // departures.go
	sanitizing                             // sanitize.go
	calculating calculate.Cache            // calculating.go
	networking                             // network.go
	heap        *nvshmem.Heap              // with the back end NVSHMEM
	comms       nccl.List[*communicator]   // nccl_comm.go
	located     memory.Locations[contents] // contents.go
	local       *memory.Cache[*Stream]     // storage.go
	pinned      *memory.Cache[*Stream]     // host.go
	defaultType atomic.Uint32              // dtype.go
	observers                              // observers.go
	signal      signalling                 // of the call under way, for followers: observe.go
	trace       atomic.Pointer[tracing]    // under way, or nil
	clock       timeline.Clock             // when the trace began
	line        func(at int) string        // Config.Line
	lend        lender                     // Config.Lend
	comparing   atomic.Pointer[comparing]  // the Compare whose code runs, or nil

	closed  atomic.Bool
	looking sync.Mutex // held while watch is read outside a call of the user: Close takes watch away
	taking  sync.Mutex // held while a fault is taken, and while Recover clears the faults
	mu      sync.Mutex // orders work that is put in streams, and guards the world
	world
}

// Inner is a world as operators see it. They are in the package above and need more of a world than
// programs see: a method of Runtime would be the programs' too. Their other views are [Operand] of
// a tensor, [Rectangle] of a tile, and [Call] of a call.
type Inner struct{ rt *Runtime }

// Of returns the view that operators have of a world.
func Of(rt *Runtime) Inner { return Inner{rt} }

// part is a part of which the state is in the world. It does nothing.
type part struct {
	seam.Idle[*Group, *allocation]
	rt *Runtime
}

// world is the state that Runtime.mu guards.
type world struct {
	generation int // counts the worlds rebuilt by Recover
	created    map[string]uint64
	titled     map[string]*Group // of NewNamedGroup, on ranks that are no members too
	groups     []*Group
	allocs     []*allocation
	streams    []*Stream
	holding    []*Stream // that may hold kernels for which the network engine is kept awake
	current    *Stream
	beside     beside
	working
	slow       slowed    // slow.go
	why        study.Why // explain.go
	capture    *Graph    // being captured
	pooling    *Group    // whose memory pool is in use, or nil
	builtins   map[builtinKernel]device.Kernel
	spare      *Tensor   // memory for the reductions of the next graph, or nil
	unfreed    []*Tensor // of measurements that have failed: measure.go
	padSize    int
	backend    backend
	shmem      shmem                    // nvshmem.go
	cleared    []string                 // the result of ClearedSignals
	unreported error                    // a fault met where it could not be reported
	graphs     atomic.Pointer[[]*Graph] // alive; replaced as a whole, so that readers need no lock
}

// Rank is this rank's number among all ranks.
func (rt *Runtime) Rank() int { return rt.rank }

// Size is the number of ranks.
func (rt *Runtime) Size() int { return rt.size }

// Group is the group of all ranks.
func (rt *Runtime) Group() *Group { return rt.all }

// DeviceName is "cuda:2" or "cpu".
func (rt *Runtime) DeviceName() string { return rt.name }

// refuseClosed refuses a call after Close, which took the device away.
func (rt *Runtime) refuseClosed(op string) {
	if rt.closed.Load() {
		panic(rt.misuse(op, "", "make another world", "the world was closed"))
	}
}

func ptr[T any](v T) *T { return &v }

// hostCall refuses a call that has no place in a graph while one is captured, and any after Close.
func (rt *Runtime) hostCall(op string) {
	rt.refuseClosed(op)
	for _, o := range rt.following() {
		o.called(op, nil)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.capture != nil {
		panic(rt.misuse(op, "", "make this call before the capture, or after a replay", "not allowed while a graph is captured"))
	}
}
