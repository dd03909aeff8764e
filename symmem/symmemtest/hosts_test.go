package symmemtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// hostCases belong to the tests on hosts. They need four ranks on two hosts.
var hostCases = []testCase{
	{name: "Teams", run: teamsCase},
	{name: "TeamCollectives", run: teamCollectivesCase},
	{name: "TeamPool", run: teamPoolCase},
	{name: "TeamKernel", run: teamKernelCase},
	{name: "TeamsEnd", run: teamsEndCase},
	{name: "NearPeers", run: nearPeersCase},
	{name: "RefusedAcrossHosts", run: refusedAcrossHostsCase},
	{name: "BeforeReplacementOnHosts", run: beforeReplacementOnHosts},
}

// replacementHostCase runs after a rank was replaced.
var replacementHostCase = testCase{name: "AfterReplacementOnHosts", run: afterReplacementOnHosts}

// withoutOtherHosts are the cases that run on all ranks and do not need the memory of other hosts.
var withoutOtherHosts = []string{
	"ExpectTypes", "ExpectDiffers", "ExpectGroup", "ExpectMisuse",
	"Numbers", "NumbersThatDoNotFit", "Generators", "Shapes", "Printing", "TensorMisuse", "HostMemory", "DefaultDType", "Files", "Export",
	"Bulk", "SignalsInOrder", "SignalOfAnotherTensor", "PutTwice",
	"PendingSignals", "MatMul", "MatMulScaled", "Map", "Broadcasting", "Reduce", "ArithmeticGraph", "Generated", "Statistics", "ArithmeticMisuse",
	"Options", "UnheldWork", "UnheldSanitized", "BackEnds", "MulticastPtr", "GroupRecycled", "GroupMisuse", "MulticastCaps", "Streams", "Kernels", "SanitizeAgain", "SanitizeOffTogether",
	"KernelMisuse", "LoadKernel", "LoadKernelRefused",
	"KernelFault", "KernelBounds", "Caps", "AbortLoop", "NcclTeams", "NcclAllReduce", "NcclBarriers",
	"NcclLowLatency", "NcclPointers", "NcclRefused",
	"NcclTimeout", "CudaFloat8", "CudaGroups", "PTXArithmetic", "PTXMemory", "PTXThreads", "Atomics", "CudaText",
	"NcclReduceCopy", "NcclMultimemRefused", "NcclRmsNorm",
}

// overNetwork are the cases that need only a network.
var overNetwork = []string{
	"FreeWithWorkPending", "AllocationOnStream", "FillAndSignal", "GetHalf", "Mismatch", "Ring", "Channels", "SignalTimeout", "BarrierTimeout",
	"Slow", "Measure", "Compare", "Why", "SlowFinds", "SignalWords", "State", "SignalAdd", "SignalGetReset", "Blocks", "Abort",
	"ReduceScatter", "ReduceScatterSizes", "ReduceScatterFloat8", "AllGather", "AllToAll",
	"Broadcast", "Operands", "OperandsRecover", "OperandsMismatch", "Unheld", "UnheldHandle", "UnheldGroup", "MemPoolEmpty", "MemPoolPuts",
	"MemPoolNoMeeting", "MemPoolComputeOps", "MemPoolMisuse", "MemPoolStreams", "MemPoolHistory", "MemPoolGrowth", "UseAfterFree", "FilesRefused",
	"Bounds", "NilArguments", "KernelTimeout", "NcclFirst", "NcclFence", "NcclGin", "NcclGinAllToAll", "VDevExamples", "VDevRandom",
	"VDevBytes", "VDevMixed", "VDevGaps", "ExpertRoundTrip",
	"DispatchNeighbour", "VDevGraph", "VDevRefused", "VDevMisuse", "VDevTimeout", "NcclGinPuts",
	"BarrierRefused", "NcclBarrierRefused",
	"TokenRandom", "TokenAgain", "TokenGraph", "TokenSend", "TokenQuantised", "TokenInto", "TokenGroup", "TokenRefused",
	"TokenMisuse", "TokenTimeout", "TokenExplain", "Traced",
	"TileExamples", "TileSquare", "TileReduce", "TileMultiRoot", "TileGraph", "ReduceScatterOffset", "Permute", "PermuteDimensions", "TileMisuse", "TileTimeout",
}

// sameNames reports whether two lists hold the same names, in any order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// onHostsOfTwo are the cases of both lists that use groups of two neighbours, or the memory of a
// neighbour.
var onHostsOfTwo = []string{"GroupRecycled", "FillAndSignal"}

// without returns list without the elements of others.
func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(others, name) })
}

// notOnHosts are the cases that cannot report that they were refused: they end the process, look
// for a pointer to every member, or expect algorithms within a host.
var notOnHosts = []string{"Goroutines", "HandleFields", "Trace", "KernelHandle", "KernelSymmetric", "LoadKernelPeers", "PTXRanks",
	"DenseExplain", "Pieces", "AllReduceLines", "MemPoolOrder",
	"AsyncTimeout", "CopyEngineDefault", "Expect"}

// TestHosts runs every case, except those ofOneRank, on ranks that are on several hosts. Cases that
// need the memory of other hosts must be refused for that reason; all others must pass.
func TestHosts(t *testing.T) {
	withNetwork := append(slices.Clone(withoutOtherHosts), overNetwork...)
	for _, c := range []struct {
		device string
		division
		pass []string
	}{
		{"cpu", division{4, 2, "none"}, withoutOtherHosts}, {"cpu", division{4, 2, "null"}, withNetwork},
		{"cuda", division{4, 2, "none"}, withoutOtherHosts},
		// with -worlds only, as they take long: the same cases on one rank or four a host, and those of the
		// cpu device without a network
		{"cpu", division{4, 4, "null"}, without(withNetwork, onHostsOfTwo)}, {"cpu", division{8, 2, "null"}, withNetwork},
	} {
		if !slices.Contains(devices(t), c.device) {
			continue
		}
		t.Run(fmt.Sprintf("%s/%dranks/%dhosts/%s", c.device, c.ranks, c.hosts, c.network), func(t *testing.T) {
			briefly(t, c.network == "none") // TestNetwork and TestOverHosts cover the other one
			longWorld(t, c.hosts > 2 || c.ranks > 4 || c.device == "cpu" && c.network == "none" && !testing.Short())
			needRanks(t, c.device, c.ranks)
			w := startOn(t, c.device, c.ranks, strconv.Itoa(c.hosts), c.network)
			want := c.pass
			var passed []string
			refused, tried := 0, 0
			for _, test := range cases {
				if c.ranks > 4 && !test.many {
					want = without(want, []string{test.name})
					continue
				}
				if slices.Contains(notOnHosts, test.name) || slices.Contains(ofOneRank, test.name) {
					continue
				}
				tried++
				switch ok, across := w.try(t, test.name); {
				case ok:
					passed = append(passed, test.name)
				case across:
					refused++
				}
			}
			if !sameNames(passed, want) || refused != tried-len(want) {
				t.Errorf("of %d cases %d were refused; %q passed, want %q", tried, refused, passed, want)
			}
		})
	}
}

// TestTeams uses teams and groups that span hosts, and replaces a rank.
func TestTeams(t *testing.T) {
	const n = 4
	for _, c := range []struct{ device, network string }{{"cpu", "none"}, {"cpu", "null"}, {"cuda", "none"}} {
		if !slices.Contains(devices(t), c.device) {
			continue
		}
		t.Run(c.device+"/"+c.network, func(t *testing.T) {
			needRanks(t, c.device, n)
			w := startOn(t, c.device, n, "2", c.network)
			for _, test := range hostCases {
				if test.name == "RefusedAcrossHosts" && c.network != "none" {
					continue
				}
				t.Run(test.name, func(t *testing.T) { w.run(t, test.name) })
			}
			w.replace(t, 3)
			w.run(t, replacementHostCase.name)
			w.run(t, "Teams")
			w.run(t, "TeamCollectives")
		})
	}
}

// across reports whether a rank's log contains a refusal because of hosts.
func across(log string) bool {
	return strings.Contains(log, "is on another host, and ") || strings.Contains(log, "no engine carries ") ||
		strings.Contains(log, "copy engines do not reach ")
}

// try runs a case on all ranks, and reports whether it passed and, if not, whether it was refused
// because of hosts. If some ranks were refused, the others are released.
func (w *ranks) try(t *testing.T, name string) (passed, refused bool) {
	type said struct {
		c *child
		r report
	}
	reports := make(chan said)
	for _, c := range w.children {
		c.control.Encode(order{Run: name})
		go func() {
			r, alive := <-c.reports
			if !alive {
				r = report{Failed: true, Log: "died\n"}
			}
			reports <- said{c, r}
		}()
	}
	release := func() {
		for _, c := range w.children {
			c.control.Encode(order{Abort: "another rank was refused"})
		}
	}
	stops := []func(){later(caseLimit, release)}
	passed = true
	var log strings.Builder
	for range w.children {
		s := <-reports
		s.c.tallies = s.r.Tallies
		if !s.r.Failed {
			continue
		}
		fmt.Fprintf(&log, "rank %d:\n%s%s", s.c.rank, indent(s.r.Log), indent(s.c.said()))
		w.hub.Leave(s.c.rank, "failed the case")
		if passed {
			stops = append(stops, later(100*time.Millisecond, release))
		}
		passed, refused = false, refused || across(s.r.Log)
	}
	for _, stop := range stops {
		stop() // ranks that were released from now on would give up the next case
	}
	if passed {
		w.compareTallies(t)
		return true, false
	}
	if !refused {
		t.Errorf("%s:\n%s", name, log.String())
	}
	w.enter()
	for _, c := range w.children {
		c.control.Encode(order{Recover: true})
	}
	if w.collect(t, caseLimit) {
		t.FailNow()
	}
	return false, refused
}

// later calls f after a time, unless stop was called before. When stop returns, f does not run.
func later(after time.Duration, f func()) (stop func()) {
	var mu sync.Mutex
	over := false
	timer := time.AfterFunc(after, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			f()
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// teamsCase asks for teams. Ranks that do not need a team need not ask for it.
func teamsCase(t *T) {
	world, host := symmem.World(), []int{t.rank &^ 1, t.rank | 1}
	lsa, rail := symmem.LSA(), symmem.Rail()
	t.equal("LSA", lsa.Ranks(), host)
	t.equal("rail", rail.Ranks(), []int{t.rank & 1, t.rank&1 + 2})
	t.equal("rank in the LSA team", lsa.Rank(), t.rank&1)
	t.equal("rank in the rail", rail.Rank(), t.rank/2)
	t.equal("names", fmt.Sprint(world, ", ", lsa, ", ", rail),
		fmt.Sprintf("world, LSA team %d,%d, rail %d,%d", host[0], host[1], t.rank&1, t.rank&1+2))
	t.equal("the same teams", world.LSA() == lsa && world.Rail() == rail && lsa.LSA() == lsa && rail.Rail() == rail, true)
	if t.rank == 2 { // not collective
		mine, alone := lsa.Rail(), rail.LSA()
		t.equal("rail of the LSA team", mine.Ranks(), []int{2})
		t.equal("LSA team of the rail", alone.Ranks(), []int{2})
		t.equal("both again", lsa.Rail() == mine && rail.LSA() == alone && alone.Rail() == alone, true)
		x := mine.Empty(symmem.I32, 2).Fill(3)
		symmem.Rendezvous(x).Barrier(0)
		t.equal("alone", symmem.AllReduce(x, "sum").Ints(), []int{3, 3})
		x.Free()
	}
	uneven := symmem.NewGroup(0, 2, 3)
	if uneven.Rank() >= 0 {
		t.equal("its LSA team", uneven.LSA().Ranks(), map[bool][]int{true: {0}, false: {2, 3}}[t.rank == 0])
		t.refused(symmem.KindMisuse, func() { uneven.Rail() }, "group 0,2,3 has more members on one host than on another: 0 and 2,3", "NewGroup")
		uneven.Free()
	}
	t.refused(symmem.KindMisuse, lsa.Free, "is a team of the world and cannot be freed")
	c := symmem.Caps()
	t.equal("hosts", fmt.Sprintf("%v %v %s", c.Hosts, c.Simulated, c.Between),
		"[[0 1] [2 3]] true "+map[string]string{"none": "nothing", "null": "the null network"}[os.Getenv("SYMMREPL_NET")])
}

// teamCollectivesCase makes the world's tensors and works on them within each host.
func teamCollectivesCase(t *T) {
	lsa := symmem.LSA()
	first := t.rank &^ 1
	both := func(f func(rank int) int) []int { return []int{f(first), f(first + 1)} }
	x := symmem.Empty(symmem.I32, 4).Fill(10 + t.rank)
	h := symmem.Rendezvous(x, lsa)
	t.equal("members", h.WorldSize(), 2)
	t.equal("one shot", symmem.OneShotAllReduce(x, "sum", lsa).Ints(), slices.Repeat([]int{21 + 2*first}, 4))
	t.equal("gathered", symmem.AllGather(x.Slice(0, 1), lsa).Ints(), both(func(r int) int { return 10 + r }))
	t.equal("by copy engines", symmem.AllGather(x.Slice(0, 1), lsa, symmem.CopyEngine()).Ints(), both(func(r int) int { return 10 + r }))
	t.equal("broadcast", symmem.Broadcast(x, 1, lsa).Ints(), slices.Repeat([]int{11 + first}, 4))
	x.Fill(t.rank)
	t.equal("all to all", symmem.AllToAll(x.Slice(0, 2), lsa).Ints(), both(func(r int) int { return r }))
	t.equal("scattered", symmem.ReduceScatter(x, "max", lsa).Ints(), []int{first + 1, first + 1})
	t.equal("two shot", symmem.TwoShotAllReduce(x, "sum", lsa).Ints(), slices.Repeat([]int{2*first + 1}, 4))
	for i := range 5 {
		h.Barrier(i)
	}
	y := lsa.Empty(symmem.I32, 2, 2).Fill(t.rank)
	symmem.Rendezvous(y)
	tile := symmem.Local(symmem.I32, 2, 2)
	symmem.TileReduce(y.Tile(0, 2, 0, 2), tile.Tile(0, 2, 0, 2), 0, "sum", lsa)
	if lsa.Rank() == 0 {
		t.equal("tile", tile.Ints(), slices.Repeat([]int{2*first + 1}, 4))
	}
	out := symmem.Local(symmem.I32, 2, 2)
	graph := symmem.Capture(func() { symmem.OneShotAllReduceOut(y, "sum", out) })
	graph.Replay()
	graph.Replay()
	t.equal("replayed", out.Ints(), slices.Repeat([]int{2*first + 1}, 4))
	symmem.Synchronize()
	graph.Free()
	y.Free()
	x.Free()
}

func teamPoolCase(t *T) {
	lsa := symmem.LSA()
	for range 3 {
		var x *symmem.Tensor
		symmem.UseMemPool(func() { x = symmem.Local(symmem.I32, 6).Fill(t.rank) }, lsa)
		symmem.Rendezvous(x)
		t.equal("max", symmem.OneShotAllReduce(x, "max").Ints(), slices.Repeat([]int{t.rank | 1}, 6))
		x.Free()
	}
	symmem.Synchronize()
	t.equal("the team's pool", symmem.MemPoolStats(lsa).Blocks, 1)
	t.equal("the world's", symmem.MemPoolStats(), symmem.PoolStats{})
}

// teamKernelCase gives a kernel the handle of a team. The handle of a group that spans hosts is
// refused if no network carries its operations.
func teamKernelCase(t *T) {
	x, y := symmem.Empty(symmem.I32, 64).Fill(t.rank), symmem.Local(symmem.I32, 64)
	world, h := symmem.Rendezvous(x), symmem.Rendezvous(x, symmem.LSA())
	pull := symmem.Compile(`extern "C" __global__ void pull(symm::Handle h, int* y) {
		if (!symm::barrier(h, 0)) return;
		y[threadIdx.x] = h.buffer<int>(1 - h.rank)[threadIdx.x];
		symm::barrier(h, 0);
	}`)
	pull.Launch(symmem.Grid(1), symmem.Block(64), h, y, symmem.Timeout(20*time.Second))
	t.equal("the neighbour", y.Ints(), slices.Repeat([]int{t.rank ^ 1}, 64))
	far := (t.rank&^1 + 2) % 4
	if t.rt.Network().Name != "" {
		x.Free()
		return
	}
	e := t.refused(symmem.KindMisuse, func() { pull.Launch(symmem.Grid(1), symmem.Block(64), world, y) }, "pull on rank",
		"and world has no pointer to its memory", "g.LSA()")
	t.equal("the first that is not reached", e.Peer, far)
	x.Free()
}

// teamsEndCase ends teams with their group.
func teamsEndCase(t *T) {
	g := symmem.NewGroup(0, 1, 2, 3)
	lsa, rail := g.LSA(), g.Rail()
	t.equal("teams of their own", lsa != symmem.LSA() && rail != symmem.Rail() && lsa != rail, true)
	x := lsa.Empty(symmem.I32, 1)
	t.refused(symmem.KindMisuse, g.Free, "tensor i32[1] of LSA team", "is still allocated")
	t.refused(symmem.KindMisuse, rail.Free, "is a team of group 0,1,2,3", "free group 0,1,2,3")
	x.Free()
	g.Free()
	for _, team := range []*symmem.Group{lsa, rail} {
		t.refused(symmem.KindPeer, func() { team.Empty(symmem.I32, 1) }, "cannot be used: it was freed")
	}
	t.refused(symmem.KindPeer, func() { g.LSA() }, "group 0,1,2,3 cannot be used: it was freed")
	for range 3 { // the memory of teams is released too
		symmem.NewGroup(0, 1, 2, 3).Free()
	}
}

// nearPeersCase uses the peers on the rank's own host through the world.
func nearPeersCase(t *T) {
	near := t.rank ^ 1
	x := symmem.Empty(symmem.I32, 2, 2)
	h := symmem.Rendezvous(x)
	for i, p := range h.BufferPtrs() {
		t.equal(fmt.Sprint("the pointers to rank ", i), []bool{p != 0, h.SignalPadPtrs()[i] != 0}, slices.Repeat([]bool{i/2 == t.rank/2}, 2))
	}
	src, dst := symmem.Local(symmem.I32, 2, 2).Fill(t.rank+1), symmem.Local(symmem.I32, 2, 2)
	h.Put(near, src)
	h.PutSignal(near, 0)
	h.WaitSignal(near, 0)
	t.equal("put", x.Ints(), slices.Repeat([]int{near + 1}, 4))
	h.PutSignal(near, 1)
	h.WaitSignal(near, 1)
	h.PutWithSignal(near, src.Fill(t.rank+5), 3, 9)
	h.WaitForSignal(3, "==", 9)
	t.equal("put with signal", x.Ints(), slices.Repeat([]int{near + 5}, 4))
	h.Get(near, dst)
	t.equal("got", dst.Ints(), slices.Repeat([]int{t.rank + 5}, 4))
	h.PutSignal(near, 1)
	h.WaitSignal(near, 1)
	h.PutBlock(near, symmem.Local(symmem.I32, 1, 1).Fill(40+t.rank), 1, 0)
	h.PutSignal(near, 0)
	h.WaitSignal(near, 0)
	t.equal("block", x.Ints(), []int{near + 5, near + 5, 40 + near, near + 5})
	t.equal("remote tensor", h.GetRemoteTensor(near).Ints()[2], 40+t.rank)
	symmem.Synchronize()
	t.meet()
	x.Free()
}

// refusedAcrossHostsCase checks that operations are refused, with the rank whose memory they need.
func refusedAcrossHostsCase(t *T) {
	x := symmem.Empty(symmem.I32, 2, 2).Fill(t.rank)
	h := symmem.Rendezvous(x)
	far, first := (t.rank+2)%4, (t.rank&^1+2)%4
	local := symmem.Local(symmem.I32, 2, 2)
	for op, test := range map[string]struct {
		f    func()
		peer int
	}{
		"put":             {func() { h.Put(far, local) }, far},
		"get":             {func() { h.Get(far, local) }, far},
		"put_with_signal": {func() { h.PutWithSignal(far, local, 0, 1) }, far},
		"put_block":       {func() { h.PutBlock(far, local, 0, 0) }, far},
		"get_block":       {func() { h.GetBlock(far, local, 0, 0) }, far},
		"put_signal":      {func() { h.PutSignal(far, 0) }, far},
		"wait_signal":     {func() { h.WaitSignal(far, 0) }, far},
		"barrier":         {func() { h.Barrier(0) }, first},
		"all_reduce":      {func() { symmem.AllReduce(x, "sum") }, first},
		"tile_reduce":     {func() { symmem.TileReduce(x.Tile(0, 2, 0, 2), local.Tile(0, 2, 0, 2), 0, "sum") }, first},
		"UseMemPool":      {func() { symmem.UseMemPool(func() { t.Errorf("the pool is used") }) }, first},
		"GetMemPool":      {func() { symmem.GetMemPool() }, first},
	} {
		e := t.refused(symmem.KindMisuse, test.f, "no engine carries "+op+" between hosts", "g.LSA()")
		t.equal(op, []any{e.Op, e.Peer, e.Rank}, []any{op, test.peer, t.rank})
	}
	for op, test := range map[string]struct {
		f    func()
		peer int
	}{
		"GetBuffer":           {func() { h.GetBuffer(far, symmem.I32, 1) }, far},
		"GetRemoteTensor":     {func() { h.GetRemoteTensor(far) }, far},
		"GetSignalPad":        {func() { h.GetSignalPad(far) }, far},
		"one_shot_all_reduce": {func() { symmem.OneShotAllReduce(x, "sum") }, first},
		"two_shot_all_reduce": {func() { symmem.TwoShotAllReduce(x, "sum") }, first},
	} {
		e := t.refused(symmem.KindMisuse, test.f, fmt.Sprintf("rank %d is on another host, and world has no pointer to its memory",
			test.peer), "(use the ranks of this host, which are", "g.LSA()")
		t.equal(op, []any{e.Op, e.Peer, e.Rank}, []any{op, test.peer, t.rank})
	}
	t.refused(symmem.KindMisuse, func() { symmem.AllGather(x, symmem.CopyEngine()) },
		"copy engines do not reach the ranks of world on other hosts", "g.LSA()")
	t.equal("the tensor", x.Ints(), slices.Repeat([]int{t.rank}, 4))
	x.Free()
}

func beforeReplacementOnHosts(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(10 + t.rank)
	y := symmem.LSA().Empty(symmem.I32, 2).Fill(t.rank)
	t.kept["tensor"], t.kept["handle"], t.kept["team's"], t.kept["team's handle"] = x, symmem.Rendezvous(x), y, symmem.Rendezvous(y)
	t.kept["teams"] = []*symmem.Group{symmem.LSA(), symmem.Rail()}
	t.kept["group"] = symmem.NewGroup(0, 1, 2, 3)
	t.kept["group's team"] = t.kept["group"].(*symmem.Group).LSA()
	rest := symmem.NewGroup(0, 2)
	t.kept["rest"] = rest
}

// afterReplacementOnHosts runs after rank 3 was replaced.
func afterReplacementOnHosts(t *T) {
	if t.rank == 3 {
		t.equal("lost by the new process", len(t.kept["lost"].([]string)), 0)
	} else {
		x, y := t.kept["tensor"].(*symmem.Tensor), t.kept["team's"].(*symmem.Tensor)
		want := []string{"group 0,1,2,3", "rank 3's part of the symmetric tensor i32[4] of world"}
		if t.rank == 2 {
			want = append(want, "rank 3's part of the symmetric tensor i32[2] of LSA team 2,3")
		}
		lost := t.kept["lost"].([]string)
		for _, w := range want {
			if !slices.Contains(lost, w) {
				t.Errorf("%q is not lost: %q", w, lost)
			}
		}
		if slices.ContainsFunc(lost, func(s string) bool {
			return strings.HasPrefix(s, "LSA team") || strings.HasPrefix(s, "rail") || s == "group 0,2"
		}) {
			t.Errorf("lost: %q", lost)
		}
		t.equal("own data", x.Ints(), slices.Repeat([]int{10 + t.rank}, 4))
		t.refused(symmem.KindPeer, func() { t.kept["handle"].(*symmem.Handle).PutSignal(t.rank^1, 0) },
			"i32[4] lost a part: rank 3 was replaced")
		x.Free()
		t.equal("the same teams", []*symmem.Group{symmem.LSA(), symmem.Rail()}, t.kept["teams"])
		t.refused(symmem.KindPeer, func() { t.kept["group's team"].(*symmem.Group).Empty(symmem.I32, 1) }, "cannot be used: rank 3 was replaced")
		t.kept["group"].(*symmem.Group).Free() // not collective
		if t.rank < 2 {
			t.equal("the team of the other host", symmem.AllReduce(y, "sum").Ints(), []int{1, 1})
			t.kept["team's handle"].(*symmem.Handle).Barrier(0)
		}
		y.Free()
		if rest := t.kept["rest"].(*symmem.Group); rest.Rank() >= 0 {
			rest.Empty(symmem.I32, 1).Free()
			rest.Free()
		}
	}
	z := symmem.Empty(symmem.I32, 2).Fill(t.rank)
	symmem.Rendezvous(z, symmem.LSA())
	t.equal("sum", symmem.AllReduce(z, "sum", symmem.LSA()).Ints(), slices.Repeat([]int{t.rank&^1*2 + 1}, 2))
	symmem.Rail().Empty(symmem.I32, 1).Free()
	z.Free()
}
