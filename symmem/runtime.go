package symmem

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// Config holds the settings of Init.
type Config struct {
	Device string // "auto" (the default), "cpu" or "cuda"
	// the number of this rank on its host, from 0 on: the rank gets the device of that number, or
	// shares one if there are fewer devices
	Index int
	// of symmetric memory: "CPU", "CUDA", "NCCL" or "NVSHMEM"; "" for the one in TORCH_SYMMMEM on
	// GPUs, else the device's own
	Backend string
	Network string            // the network between hosts: "ucx", "null" or "none"; "" for the one in SYMMREPL_NET, else ucx
	Client  *bootstrap.Client // to meet the other ranks; nil for a world of one
	// LocalSize is the number of ranks on this host, 0 if it is not known. If there are more ranks
	// than devices, neighbours share one: of 4 ranks on 2 GPUs those with Index 0 and 1 use the
	// first.
	LocalSize int
	// Joining reports whether this process replaces an earlier one of its rank. Init then builds
	// nothing collective: the first collective call is the Recover that the other ranks make too.
	Joining bool
	// Caller returns the place in the program, as a number of the program's choice; Caller and
	// Replayed of Error and Wait repeat the number of the time when the work was issued. It is
	// called often and must be quick. nil if the program does not need it.
	Caller func() int
	// Line returns the line of such a place, as "cell[3]:7", for [Runtime.Trace]; nil if the program
	// does not say.
	Line func(at int) string
	// Lend returns a tensor of another program of this host by its name, for [Runtime.FromTorch]; nil
	// if there is no such program.
	Lend func(ctx context.Context, name string) (Lent, error)
}

// Runtime is this rank's view of all ranks and of its device. Its methods may be called from
// several goroutines. It comes from Init or Start: the nil one that they return with an error
// faults like any nil pointer.
type Runtime struct {
	*world
	core     core.Inner // of the world
	dev      device.Device
	info     device.Info
	kind     *devices.Kind // of dev
	meeting  *meeting      // of Start; nil if the caller has given the client
	snippets snippets      // compiled so far
}

// networkVariable is the environment variable that picks the network between hosts: see
// docs/hosts.md.
const networkVariable = "SYMMREPL_NET"

// latest is the world of the package functions, set by Init.
var latest atomic.Pointer[Runtime]

// Init opens the device and builds the world of config. It is collective over all ranks of the
// client, unless config.Joining. The package functions act on this world from now on. If its ranks
// are on several hosts, memory is shared within each, and operations that need the memory of other
// hosts are refused.
func Init(config Config) (*Runtime, error) {
	rank, scratch := 0, ""
	if config.Client != nil {
		rank, scratch = config.Client.Rank(), config.Client.Dir()
	}
	if config.Index < 0 {
		return nil, &Error{Kind: KindMisuse, Op: "Init", Rank: rank, Peer: -1, Arg: "Index", Hint: "devices are numbered from 0",
			Msg: fmt.Sprintf("the index must not be negative, not %d", config.Index)}
	}
	if config.LocalSize < 0 {
		return nil, &Error{Kind: KindMisuse, Op: "Init", Rank: rank, Peer: -1, Arg: "LocalSize", Hint: "leave it 0 if it is not known",
			Msg: fmt.Sprintf("the ranks of this host must not be negative, not %d", config.LocalSize)}
	}
	kind, err := devices.Find(config.Device)
	if err != nil {
		return nil, core.OpenFailure(rank, err)
	}
	dev, err := kind.Open(kind.Assign(config.Index, config.LocalSize), scratch, config.Index > 0)
	if err != nil {
		return nil, core.OpenFailure(rank, err)
	}
	rt, err := newRuntime(kind, dev, rank, config)
	if err != nil {
		dev.Close()
		return nil, err
	}
	latest.Store(rt)
	return rt, nil
}

// newRuntime builds the world on a device of a kind.
func newRuntime(kind *devices.Kind, dev device.Device, rank int, config Config) (*Runtime, error) {
	info := dev.Info()
	name := kind.Device(info.Index)
	backend, err := chosenBackend(kind, name, rank, config)
	if err != nil {
		return nil, err
	}
	w, err := core.New(dev, core.Config{Backend: backend, Client: config.Client, Plan: kind.Plan, Name: name, Joining: config.Joining,
		Caller: config.Caller, Line: config.Line, Lend: config.Lend, Network: cmp.Or(config.Network, os.Getenv(networkVariable))})
	if err != nil {
		return nil, err
	}
	return &Runtime{world: w, core: core.Of(w), dev: dev, info: info, kind: kind}, nil
}

// now returns the world that Init made.
func now() *Runtime {
	rt := latest.Load()
	if rt == nil {
		panic(&Error{Kind: KindMisuse, Op: "symmem", Rank: -1, Peer: -1, Msg: "there is no world yet",
			Hint: "call symmem.Start or symmem.Init first"})
	}
	return rt
}

// Close releases the device and everything in its memory. Afterwards the runtime answers questions
// about itself, and refuses all other calls. Closing it again does nothing. Close does not wait for
// the other ranks, except for up to three seconds if NCCL may still send them data: a rank that
// still reads this rank's memory keeps it until it is done. [Start] describes Close of its
// runtimes.
func (rt *Runtime) Close() error {
	latest.CompareAndSwap(rt, nil)
	err := rt.world.Close()
	if rt.meeting != nil {
		rt.meeting.close()
	}
	return err
}
