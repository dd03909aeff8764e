package symmem

import (
	"errors"
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nvshmem"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/sanitizer"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// New builds the world on a device, which Close of the world closes. It is collective over the
// ranks of the client, unless config.Joining.
func New(dev device.Device, config Config) (*Runtime, error) {
	rt := &Runtime{
		dev: dev, info: dev.Info(), plan: config.Plan, name: config.Name, watch: dev.Watch(), size: 1,
		world: world{generation: 1, padSize: defaultPadSize, created: map[string]uint64{}, builtins: map[builtinKernel]device.Kernel{}},
	}
	rt.choice = networks.Choice(config.Network)
	if rt.info.Guards {
		rt.located.Keep()
	}
	rt.line, rt.lend = config.Line, config.Lend
	rt.calls = calls.NewLog(config.Caller, func(r *Record) *calls.Entry { return &r.Entry })
	rt.backend = backend{name: config.Backend, session: config.Caller != nil, joining: config.Joining}
	rt.local, rt.pinned = rt.newCache(), rt.newCache()
	rt.sanitizer = sanitizer.Of(dev)
	rt.setGraphs(nil)
	rt.renewHostContext()
	rt.heap = nvshmem.NewHeap(nvshmem.World{Device: dev, Name: rt.name, Page: rt.watch,
		Aborted: func() bool { return rt.abort.Load() != nil },
		Backend: func() (name, advice string) { return rt.backendName(), rt.backend.fix(nvshmemBackend) }})
	rt.why.World = studied{rt}
	rt.parts, rt.carriers = rt.madeOf(), rt.carriedBy()
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

// Close releases the device and everything in its memory. It does not wait for the other ranks, except
// for a moment if NCCL may still send them data. A rank that still reads this rank's memory keeps the
// memory alive until it unmaps it. A second Close does nothing.
func (rt *Runtime) Close() error {
	if !rt.closed.CompareAndSwap(false, true) {
		return nil
	}
	for _, p := range slices.Backward(rt.parts) {
		p.Leave()
	}
	rt.giveUp("the world was closed")
	rt.looking.Lock() // nobody begins to look any more
	defer rt.looking.Unlock()
	rt.StopTrace()
	for _, s := range rt.allStreams() {
		s.synchronize() // no caller is left for its error
	}
	var failed error
	for _, p := range slices.Backward(rt.parts) {
		failed = errors.Join(failed, p.Close())
	}
	return errors.Join(failed, rt.dev.Close())
}

// Meet waits for all work of this rank, and then until all ranks have called it. Their earlier puts
// are then complete. It is collective over the world.
func (rt *Runtime) Meet() {
	const op = "Meet"
	rt.hostCall(op)
	rt.synchronize(op)
	rt.all.meet(op, "", nil)
}

// buildWorld finds out which ranks share memory, and builds the workspaces of the world and of its
// teams. It is collective over all ranks that are left. While some are gone, they count as one host
// more, and there is nothing to build.
func (rt *Runtime) buildWorld(op string) {
	base := rt.base()
	hosts, err := rt.findHosts(op, base)
	p := places.On(hosts, rt.simulated())
	if err == nil {
		err = rt.findDevices(op, p, base)
	}
	if err != nil {
		panic(rt.failure(op, err))
	}
	for _, host := range p.Parts {
		if len(host) > abi.MaxRanks {
			panic(rt.misuse(op, "Client", "simulate hosts by --hosts, or start fewer ranks",
				"at most %d ranks may share memory, and there are %d on one host", abi.MaxRanks, len(host)))
		}
	}
	rt.takeShare(sharingIn(p))
	p.Lose(others(rt.all.ranks, base.ranks))
	rt.places.Store(p)
	rt.all.splitByHost()
	base.splitByHost()
	if base.split.Spans() {
		err = rt.connectNetwork(op, base)
	} else if n := rt.net.Load(); n != nil { // the other hosts were lost: later messages of theirs are dropped
		n.Peers = nil
		err = rt.reconnect()
	}
	if err != nil {
		panic(rt.failure(op, err))
	}
	if !rt.whole() {
		return
	}
	if rt.backendName() == nvshmemBackend {
		if err := rt.refuseHeap(op, "Backend"); err != nil {
			panic(err)
		}
	}
	rt.all.build(op, rt.info.Kind)
	rt.all.makeTeams(op)
}
