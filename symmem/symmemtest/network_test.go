package symmemtest

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// networkCases test traffic between hosts, without pointers to other ranks' memory. The cases named
// in overNetwork do so too.
var networkCases = []testCase{
	{name: "NetworkPutAndGet", run: networkPutAndGetCase},
	{name: "NetworkSourceIsFree", run: networkSourceIsFreeCase},
	{name: "NetworkSizes", run: networkSizesCase},
	{name: "NetworkBarrier", run: networkBarrierCase},
	{name: "NetworkSignalAdd", run: networkSignalAddCase},
	{name: "NetworkGraphs", run: networkGraphsCase},
	{name: "NetworkStreams", run: networkStreamsCase},
	{name: "NetworkGroups", run: networkGroupsCase},
	{name: "NetworkParts", run: networkPartsCase},
	{name: "NetworkAbort", run: networkAbortCase},
	{name: "NetworkKernelAbort", run: networkKernelAbortCase},
	{name: "NetworkState", run: networkStateCase},
	{name: "NetworkWays", run: networkWaysCase},
}

var alsoOverNetwork = []string{"Ring", "SignalsInOrder", "SignalOfAnotherTensor", "Channels", "PutTwice", "SignalTimeout",
	"BarrierTimeout", "SignalWords",
	"FreeWithWorkPending", "SignalGetReset", "Blocks", "PendingSignals", "GetHalf", "SignalAdd"}

var seeds = flag.Int("seeds", 0, "let messages overtake each other in the order of so many seeds on every division of ranks, not of one on each of some")

// division is a number of ranks on a number of hosts, and the network between them.
type division struct {
	ranks, hosts int
	network      string
}

// moreNetworks are the divisions that TestNetwork tests with -worlds only. It always tests 2 ranks on the
// fast null network, and 4 ranks over UCX and with messages that overtake each other.
var moreNetworks = []division{{4, 2, "null"}, {4, 2, "null reorder=on seed=1"}, {4, 4, "null"}, {8, 2, "null"}, {2, 2, "ucx"}, {4, 4, "ucx"},
	{4, 4, "null reorder=on seed=3 delay=1ms"}}

// orders lists null networks whose messages overtake each other.
func orders() (list []division) {
	if *seeds == 0 {
		return []division{{4, 2, "null reorder=on seed=1"}, {4, 4, "null reorder=on seed=2 delay=100us"},
			{4, 4, "null reorder=on seed=3 delay=1ms"}}
	}
	for seed := range *seeds {
		delay := []string{"0s", "100us", "1ms"}[seed%3]
		for _, d := range []division{{ranks: 4, hosts: 2}, {ranks: 4, hosts: 4}, {ranks: 8, hosts: 2}} {
			d.network = fmt.Sprintf("null reorder=on seed=%d delay=%s", seed+1, delay)
			list = append(list, d)
		}
	}
	return list
}

// TestNetwork runs the cases of one-sided operations and signals between simulated hosts: over the
// null network, both fast, and slow with messages that overtake each other, and over UCX.
func TestNetwork(t *testing.T) {
	for _, device := range devices(t) {
		for _, c := range append([]division{{2, 2, "null"}, {4, 2, "null"}, {4, 4, "null"}, {8, 2, "null"}, {2, 2, "ucx"},
			{4, 2, "ucx"}, {4, 4, "ucx"}, {2, 2, "ucx memory=direct"}}, orders()...) {
			t.Run(fmt.Sprintf("%s/%dranks/%dhosts/%s", device, c.ranks, c.hosts, c.network), func(t *testing.T) {
				briefly(t, c.ranks == 2)
				longWorld(t, device == "cpu" && *seeds == 0 && slices.Contains(moreNetworks, c))
				needRanks(t, device, c.ranks)
				if shared() && (c.ranks != 4 || c.hosts != 2 || c.network == "null") {
					t.Skip("4 ranks on 2 hosts are enough for GPUs that are shared")
				}
				needNetwork(t, device, c.network)
				w := startOn(t, device, c.ranks, strconv.Itoa(c.hosts), c.network)
				for _, name := range alsoOverNetwork {
					t.Run(name, func(t *testing.T) { w.run(t, name) })
				}
				for _, c := range slices.Concat(networkCases, remoteCases, shmemCases) {
					if !slices.Contains(ofOneRank, c.name) {
						t.Run(c.name, func(t *testing.T) { w.run(t, c.name) })
					}
				}
			})
		}
	}
}

// needNetwork skips the test if the device or this machine lacks a requirement of the network.
func needNetwork(t *testing.T, device, network string) {
	t.Helper()
	l, err := net.Available()
	switch {
	case !strings.HasPrefix(network, "ucx"):
		return
	case err != nil:
		t.Skip(err)
	case network != "ucx" && device == "cpu":
		t.Skip("memory=direct is for GPUs")
	}
	if modules, _ := filepath.Glob(filepath.Join(filepath.Dir(l.Path), "ucx", "libuct_cuda.so*")); network != "ucx" && modules == nil {
		t.Skipf("%s has no modules for CUDA", l.Path)
	}
}

// networkPutAndGetCase is putAndGetCase with operations only.
func networkPutAndGetCase(t *T) {
	for _, d := range computing {
		x := symmem.Empty(d, 50).Fill(t.rank)
		h := symmem.Rendezvous(x)
		h.Barrier(0)
		whole, head := symmem.Local(d, 50), symmem.Local(d, 10).Fill(99)
		for p := range t.size {
			h.Get(p, whole)
			t.equal("got", whole.Ints(), slices.Repeat([]int{p}, 50))
		}
		h.Get(t.size-1, head.Slice(2, 6))
		t.equal("a part", head.Ints(), []int{99, 99, t.size - 1, t.size - 1, t.size - 1, t.size - 1, 99, 99, 99, 99})
		h.Barrier(0)
		// Each rank puts to every rank's own slice, through a handle of that slice.
		var parts []*symmem.Handle
		for p := range t.size {
			parts = append(parts, symmem.Rendezvous(x.Slice(3*p, 3*p+3)))
		}
		for p := range t.size {
			parts[t.rank].Put(p, symmem.Local(d, 3).Fill(10+t.rank))
		}
		h.Barrier(0)
		for i, v := range x.Ints() {
			want := t.rank
			if i < 3*t.size {
				want = 10 + i/3
			}
			if v != want {
				t.Fatalf("%v: element %d is %d, want %d", d, i, v, want)
			}
		}
		x.Free()
	}
}

// networkSourceIsFreeCase overwrites the source of a put at once: as within a host, the stream has
// read it before.
func networkSourceIsFreeCase(t *T) {
	const n = 1 << 18
	x := symmem.Empty(symmem.I32, n)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	src := symmem.Local(symmem.I32, n)
	for i := range 5 {
		src.Fill(10*i + t.rank)
		h.Put(right, src)
		src.Fill(-1)
		h.PutSignal(right, 0)
		h.WaitSignal(left, 0)
		h.Get(t.rank, src)
		t.equal("received", slices.Compact(src.Ints()), []int{10*i + left})
		h.Barrier(0)
	}
	x.Free()
}

// networkSizesCase puts and gets around the sizes at which the format of messages changes.
func networkSizesCase(t *T) {
	const most = 3 << 20
	x := symmem.Empty(symmem.U8, most)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	src, back := symmem.Local(symmem.U8, most), symmem.Local(symmem.U8, most)
	for i, n := range []int{1, 7, 8, 4095, 8192, 8193, 65537, 1<<20 - 1, most} {
		h.PutWithSignal(right, src.Slice(0, n).Fill(10*i+t.rank), 1, uint64(i+1))
		h.WaitForSignal(1, "==", uint64(i+1), symmem.Timeout(20*time.Second))
		t.equal("received", slices.Compact(x.Slice(0, n).Ints()), []int{10*i + left})
		back.Fill(255)
		h.Get(right, back.Slice(0, n))
		t.equal("got back", slices.Compact(back.Slice(0, n).Ints()), []int{10*i + t.rank})
		if n < most {
			t.equal("behind it", back.Slice(n, n+1).Ints(), []int{255})
		}
		h.Barrier(2)
	}
	x.Free()
}

// networkBarrierCase checks that every rank sees all puts from before the barrier, many times
// without a host-side wait.
func networkBarrierCase(t *T) {
	x := symmem.Empty(symmem.I32, t.size)
	var parts []*symmem.Handle
	for p := range t.size {
		parts = append(parts, symmem.Rendezvous(x.Slice(p, p+1)))
	}
	h := symmem.Rendezvous(x)
	const rounds = 10
	seen := symmem.Local(symmem.I32, rounds, t.size)
	mine := symmem.Local(symmem.I32, 1)
	for i := range rounds {
		mine.Fill(1000*i + t.rank)
		for p := range t.size {
			parts[t.rank].Put(p, mine)
		}
		h.Barrier(i % 3)
		seen.Slice(i, i+1).View(t.size).CopyFrom(x)
		h.Barrier(i % 2)
	}
	got := seen.Ints()
	for i := range rounds {
		for p := range t.size {
			if v := got[i*t.size+p]; v != 1000*i+p {
				t.Fatalf("round %d: rank %d's value is %d", i, p, v)
			}
		}
	}
	x.Free()
}

// signalAddCase lets all ranks add to one word of each.
func signalAddCase(t *T) {
	x := symmem.Empty(symmem.I32, 4)
	h := symmem.Rendezvous(x)
	all := uint64(0)
	for r := range t.size {
		all += uint64(r+1) << 33
	}
	for i := 1; i <= 5; i++ {
		for p := range t.size {
			if i%2 == 0 {
				h.SignalAdd(p, 3, uint64(t.rank+1)<<33, symmem.Weak())
			} else {
				h.SignalAdd(p, 3, uint64(t.rank+1)<<33)
			}
		}
		h.WaitForSignal(3, ">=", uint64(i)*all, symmem.Timeout(20*time.Second))
		h.Barrier(0)
	}
	t.equal("the word", h.GetSignal(3), 5*all)
	h.SignalAdd(t.rank, 3, math.MaxUint64-5*all)
	t.equal("around", h.GetSignal(3), uint64(math.MaxUint64))
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { h.SignalAdd(t.size, 0, 1) }, "signal_add", "dst must be in [0")
	t.refused(misuse, func() { h.SignalAdd(0, -1, 1) }, "signal_add", "the signal must be in [0")
	t.refused(misuse, func() { h.Put(0, x, symmem.Weak()) }, "put", "Weak is an option of PutWithSignal and SignalAdd")
	t.refused(misuse, func() { h.PutSignal(0, 0, symmem.Weak()) }, "Weak is an option of")
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// networkSignalAddCase: a strong addition, the default, comes after all earlier puts to the peer; a
// weak signal comes after its own.
func networkSignalAddCase(t *T) {
	const n, puts = 5000, 20
	x := symmem.Empty(symmem.I32, puts*n)
	h := symmem.Rendezvous(x)
	var parts []*symmem.Handle
	for i := range puts {
		parts = append(parts, symmem.Rendezvous(x.Slice(i*n, i*n+n)))
	}
	right := (t.rank + 1) % t.size
	src, got := symmem.Local(symmem.I32, n), symmem.Local(symmem.I32, puts*n)
	for round := 1; round <= 5; round++ {
		for _, p := range parts {
			p.Put(right, src.Fill(round))
		}
		h.SignalAdd(right, 0, 1)
		h.WaitForSignal(0, "==", uint64(round), symmem.Timeout(20*time.Second))
		h.Get(t.rank, got)
		t.equal("after a strong signal", slices.Compact(got.Ints()), []int{round})
		h.Barrier(0)
		parts[3].PutWithSignal(right, src.Fill(-round), 1, uint64(round), symmem.Weak())
		h.WaitForSignal(1, "==", uint64(round), symmem.Timeout(20*time.Second))
		parts[3].Get(t.rank, src)
		t.equal("after a weak signal", slices.Compact(src.Ints()), []int{-round})
		h.Barrier(0)
	}
	x.Free()
}

func networkGraphsCase(t *T) {
	x, y := symmem.Empty(symmem.I32, 500), symmem.Local(symmem.I32, 500)
	h := symmem.Rendezvous(x)
	count := symmem.Compile(`extern "C" __global__ void count(int* y, int n) {
		for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += 10;
	}`)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	back := symmem.Local(symmem.I32, 500)
	step := func() {
		count.Launch(symmem.Grid(2), symmem.Block(128), y, 500)
		h.Put(right, y)
		h.PutSignal(right, 2)
		h.WaitSignal(left, 2)
		h.SignalAdd(right, 5, 1)
		h.Barrier(2)
		h.Get(right, back)
	}
	y.Fill(t.rank)
	g := symmem.Capture(step)
	t.equal("nothing ran", x.Ints(), make([]int, 500))
	h.Barrier(0)
	other := symmem.NewStream()
	for i := 1; i <= 6; i++ {
		switch {
		case i == 5: // replays mix with eager calls
			step()
		case i%2 == 0:
			g.Replay(other)
			other.Synchronize()
		default:
			g.Replay()
		}
		t.equal("x", x.Ints(), slices.Repeat([]int{10*i + left}, 500))
		t.equal("back", back.Ints(), slices.Repeat([]int{10*i + t.rank}, 500))
		t.equal("word", h.GetSignal(5), uint64(i))
		h.Barrier(0)
	}
	g.Free()
	t.meet()
	other.Free()
	x.Free()
}

// networkStreamsCase signals on several streams at once.
func networkStreamsCase(t *T) {
	x := symmem.Empty(symmem.I32, 4, 1000)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	var streams []*symmem.Stream
	var rows []*symmem.Handle
	for i := range 4 {
		streams = append(streams, symmem.NewStream())
		rows = append(rows, symmem.Rendezvous(x.Slice(i, i+1)))
	}
	for round := 1; round <= 5; round++ {
		for i, s := range streams {
			symmem.OnStream(s, func() {
				rows[i].PutWithSignal(right, symmem.Local(symmem.I32, 1, 1000).Fill(100*round+10*i+t.rank), i, uint64(round))
			})
		}
		for i := range streams {
			s := streams[(i+1)%4]
			rows[i].WaitForSignal(i, "==", uint64(round), s)
			s.Synchronize()
			t.equal("row", slices.Compact(x.Slice(i, i+1).Ints()), []int{100*round + 10*i + left})
		}
		rows[0].Barrier(0)
		symmem.Synchronize()
	}
	for _, s := range streams {
		s.Free()
	}
	x.Free()
}

// networkGroupsCase makes and frees groups that span hosts, more than their words have room for at
// once.
func networkGroupsCase(t *T) {
	for i := range 200 {
		var ranks []int
		for r := range t.size {
			if t.size == 2 || r != i%t.size {
				ranks = append(ranks, r)
			}
		}
		g := symmem.NewGroup(ranks...)
		if g.Rank() < 0 {
			continue
		}
		x := g.Empty(symmem.I32, 3).Fill(-1)
		h := symmem.Rendezvous(x, g)
		right, left := (g.Rank()+1)%g.Size(), (g.Rank()+g.Size()-1)%g.Size()
		h.Barrier(0)
		h.Put(right, symmem.Local(symmem.I32, 3).Fill(i+g.Rank()))
		h.PutSignal(right, 1)
		h.WaitSignal(left, 1)
		t.equal("in a group", x.Ints(), slices.Repeat([]int{i + left}, 3))
		h.Barrier(0)
		x.Free()
		g.Free()
	}
}

// networkPartsCase uses groups of unequal parts, teams, and two at once.
func networkPartsCase(t *T) {
	rail, world := symmem.Rail(), symmem.World()
	var uneven *symmem.Group
	if t.size > 2 {
		uneven = symmem.NewGroup(0, t.size/2, t.size-1)
	}
	for _, g := range []*symmem.Group{rail, world, uneven} {
		if g == nil || g.Rank() < 0 {
			continue
		}
		x := g.Empty(symmem.I32, g.Size())
		h := symmem.Rendezvous(x, g)
		for round := 1; round <= 3; round++ {
			for p := range g.Size() {
				h.SignalAdd(p, g.Rank(), uint64(100*round+g.Rank()))
			}
			h.Barrier(0)
			for p := range g.Size() {
				t.equal("word", h.GetSignal(p), uint64(100*(round*(round+1)/2)+round*p))
			}
			h.Barrier(1)
		}
		x.Free()
	}
	if uneven != nil {
		uneven.Free()
	}
}

// networkWaysCase: Explain, a trace and the tally report the traffic over the network, with
// receivers and bytes.
func networkWaysCase(t *T) {
	half := t.size / 2
	far, here := (t.rank+half)%t.size, t.rank
	hosts := symmem.Caps().Hosts
	host := slices.IndexFunc(hosts, func(ranks []int) bool { return slices.Contains(ranks, far) })
	net := symmem.Caps().Between
	x, y := symmem.Empty(symmem.F32, 5, 5), symmem.Local(symmem.F32, 2, 5)
	h := symmem.Rendezvous(x)
	calls := func() {
		h.Put(far, y)
		h.Get(far, y)
		h.PutBlock(far, y, 3, 0)
		h.GetBlock(far, y, 3, 0)
		h.PutWithSignal(far, y, 0, 1)
		h.SignalAdd(far, 1, 1)
		h.PutSignal(far, 0)
		h.WaitSignal(far, 0)
		h.Barrier(0)
		h.Put(here, y)
	}
	over := fmt.Sprintf("ring and messages over %s, because rank %d is on host %d, whose memory is not mapped here", net, far, host)
	line := func(op string, bytes int, way string) string {
		return fmt.Sprintf("%s on world (%d ranks, %d bytes): %s", op, t.size, bytes, way)
	}
	want := []string{line("put", 40, over), line("get", 40, over), line("put_block", 40, over), line("get_block", 40, over),
		line("put_with_signal", 40, over),
		line("signal_add", 0, over), line("put_signal", 0, over), line("wait_signal", 0, over),
		line("barrier", 0, fmt.Sprintf("ring and messages over %s between hosts, loads and stores within, because members are on %d hosts", net, len(hosts))),
		line("put", 40, fmt.Sprintf("loads and stores, because the memory of rank %d is mapped here", here))}
	t.equal("explained", strings.Split(symmem.Explain(calls), "\n"), want)
	h.Barrier(0) // the next put comes after the peer's own

	t.rt.StartTrace()
	symmem.Meet() // the messages of others arrive while this rank records
	calls()
	symmem.Synchronize()
	symmem.Meet()
	record := t.rt.StopTrace()
	ops := tracedWork(record)
	to, from := fmt.Sprintf("%s to rank %d on host %d", net, far, host), fmt.Sprintf("%s from rank %d on host %d", net, far, host)
	var others []string
	for i, ranks := range hosts {
		if !slices.Contains(ranks, t.rank) {
			others = append(others, strconv.Itoa(i))
		}
	}
	with := net + " with host"
	if len(others) > 1 {
		with += "s"
	}
	with += " " + strings.Join(others, ",")
	var traced []string
	for _, o := range ops {
		if o.Name != "Meet" {
			traced = append(traced, fmt.Sprint(o.Name, " ", o.Over, " ", o.Bytes))
		}
	}
	t.equal("traced", traced, []string{"put " + to + " 40", "get " + from + " 40", "put_block " + to + " 40", "get_block " +
		from + " 40", "put_with_signal " + to + " 40",
		"signal_add " + to + " 0", "put_signal " + to + " 0", "wait_signal " + from + " 0", "barrier " + with + " 0", "put  0"})
	messages := map[string]int{} // of 40 bytes, to the far rank and from it
	for _, s := range record.Slices {
		if s.Track == timeline.Network && s.Bytes == 40 && slices.Equal(s.Peers, []int{far}) && s.Took >= 0 && len(s.Sends)+len(s.Awaits) <= 1 {
			messages[fmt.Sprint(s.Kind, " ", s.Name)]++
		}
	}
	for _, one := range []string{"message put", "message get", "message put and signal", "arrival put", "arrival put and signal"} {
		if messages[one] == 0 {
			t.Errorf("no %s was traced: %v", one, messages)
		}
	}
	for _, tally := range t.rt.Tallies() {
		if tally.Group == "world" {
			t.equal("the latest call", tally.Last, "barrier over "+net)
		}
	}
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// networkStateCase: the network reports its traffic, and the null network can be tuned.
func networkStateCase(t *T) {
	far := (t.rank + t.size/2) % t.size
	h := symmem.Rendezvous(symmem.Empty(symmem.U8, 100))
	sent := func() (bytes uint64) {
		h.Barrier(0)
		symmem.Synchronize()
		for _, p := range t.rt.Network().Peers {
			if p.Rank == far {
				bytes = p.BytesSent
			}
		}
		return bytes
	}
	before := sent()
	h.Put(far, symmem.Local(symmem.U8, 100))
	t.equal("bytes sent", sent()-before, uint64(100))

	var refused *symmem.Error
	if err := t.rt.TuneNetwork("delay soon"); !errors.As(err, &refused) || refused.Kind != symmem.KindMisuse {
		t.Errorf("a delay of \"soon\" gives %v", err)
	}
	err := t.rt.TuneNetwork("seed 5")
	switch name := t.rt.Network().Name; {
	case strings.HasPrefix(name, "UCX "):
		if !errors.As(err, &refused) || refused.Kind != symmem.KindMisuse {
			t.Errorf("UCX is tuned: %v", err)
		}
	case err != nil || !strings.HasPrefix(name, "the null network") || !strings.HasSuffix(name, ", seed 5"):
		t.Errorf("tuned, it is %q: %v", name, err)
	}
}

// networkAbortCase ends waits for peers on other hosts, and checks the reports about them.
func networkAbortCase(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(t.rank)
	h := symmem.Rendezvous(x)
	h.Barrier(0)
	symmem.Synchronize()
	far := t.size - 1
	if t.rank == 0 {
		h.WaitSignal(far, 0)
		var waits []symmem.Wait
		answered := func() bool { return len(waits) > 0 && strings.Contains(waits[0].For, " messages landed") } // the other rank has
		for end := time.Now().Add(20 * time.Second); !answered() && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
			waits = t.rt.Waits()
		}
		if len(waits) != 1 {
			t.Fatalf("waits: %+v", waits)
		}
		w := waits[0]
		t.equal("wait", []any{w.Op, w.Ordinal, w.Group, w.Peers}, []any{"wait_signal", uint64(0), "world", []int{far}})
		var posted, sent, itsPosted, itsSent, landed, messages int
		text := fmt.Sprintf("a signal on channel 0 (network to rank %d: %%d posted, %%d sent; from it: %%d posted, %%d sent, %%d of %%d messages landed)", far)
		if n, err := fmt.Sscanf(w.For, text, &posted, &sent, &itsPosted, &itsSent, &landed, &messages); n != 6 || posted != sent ||
			itsPosted != itsSent || landed != messages {
			t.Errorf("it waits for %q: %v", w.For, err)
		}
		time.AfterFunc(50*time.Millisecond, func() { t.rt.Abort("the test wants it") })
		e := t.refused(symmem.KindInterrupted, symmem.Synchronize, "wait_signal", "gave up: the test wants it")
		t.equal("peer", e.Peer, far)
	}
	symmem.Recover()
	t.equal("data", x.Ints(), slices.Repeat([]int{t.rank}, 4))
	h.Barrier(0)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	h.PutSignal(right, 0)
	h.WaitSignal(left, 0)
	symmem.Synchronize()
	h.Barrier(0)
	x.Free()
}

// lossCases are cases during which the last rank is killed.
var lossCases = []testCase{
	{name: "LossInWait", run: lossInWaitCase},
	{name: "LossInPut", run: lossInPutCase},
	{name: "LossInGet", run: lossInGetCase},
	{name: "LossInBarrier", run: lossInBarrierCase},
	{name: "LossInWaitForSignal", run: lossInWaitForSignalCase},
	{name: "LossBeside", run: lossBesideCase},
	{name: "LossInAllReduce", run: lossInAllReduceCase},
	{name: "LossInTiles", run: lossInTilesCase},
	{name: "LossInRows", run: lossInRowsCase},
	{name: "LossInTokens", run: lossInTokensCase},
	{name: "LossInTokensByRails", run: lossInTokensByRailsCase},
}

// TestNetworkLoss kills a rank on another host in the middle of each case, and replaces it. Over UCX
// every third case runs, with -worlds all.
func TestNetworkLoss(t *testing.T) {
	for _, network := range []string{"null", "ucx"} {
		t.Run(network, func(t *testing.T) {
			briefly(t, network == "ucx")
			if _, err := net.Available(); network == "ucx" && err != nil {
				t.Skip(err)
			}
			losses := slices.Concat(lossCases, kernelLossCases())
			if network == "ucx" && !*moreWorlds && !testing.Short() {
				i := 0
				losses = slices.DeleteFunc(losses, func(testCase) bool { i++; return i%3 != 1 })
			}
			loseRanks(t, network, losses)
		})
	}
}

// loseRanks runs each case on 4 ranks and kills the last one meanwhile.
func loseRanks(t *testing.T, network string, cases []testCase) {
	const n = 4
	w := startOn(t, "cpu", n, "2", network)
	whole := t // ranks live until the end of this test
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, k := range w.children {
				k.control.Encode(order{Run: c.name})
			}
			dead := w.children[n-1]
			if (&ranks{hub: w.hub, children: w.children[n-1:]}).collect(t, caseLimit) {
				t.FailNow()
			}
			time.Sleep(300 * time.Millisecond) // the others are in the case
			dead.killed = true
			dead.process.Kill()
			killed := time.Now()
			if (&ranks{hub: w.hub, children: w.children[:n-1]}).collect(t, caseLimit) {
				t.FailNow()
			}
			if d := time.Since(killed); d > pace.Unhurried(time.Second) {
				t.Errorf("the others were done %v after the death", d)
			}
			<-dead.gone
			w.children[n-1] = w.spawn(whole, n-1, n, "yes")
			if (&ranks{hub: w.hub, children: w.children[n-1:]}).collect(t, caseLimit) {
				t.FailNow()
			}
			w.enter()
			for _, k := range w.children {
				k.control.Encode(order{Recover: true, Replaced: []int{n - 1}})
			}
			if w.collect(t, caseLimit) {
				t.FailNow()
			}
			for _, name := range []string{"Ring", "NetworkPutAndGet", "SignalWords", "NetworkParts", "KernelMany"} {
				w.run(t, name)
			}
		})
	}
}

// bereave prepares a case in which the last rank is killed: it returns a handle, and false on ranks
// that only wait for the end.
func (t *T) bereave() (h *symmem.Handle, last int, part bool) {
	t.bereft = true
	h = symmem.Rendezvous(symmem.Empty(symmem.U8, 4<<20))
	h.Barrier(0)
	symmem.Synchronize()
	last = t.size - 1
	if t.rank == last {
		t.ready()
		select {}
	}
	return h, last, t.rank < t.size/2
}

// gone checks that a call ends with an error that names the last rank.
func (t *T) gone(f func(), op string) {
	e := t.refused(symmem.KindPeer, f, op, fmt.Sprintf("rank %d on host 1 is gone: ", t.size-1), "Recover")
	t.equal("op and peer", []any{e.Op, e.Peer}, []any{op, t.size - 1})
}

// lossInWaitCase: a wait for the killed rank ends, and a wait for another rank goes on.
func lossInWaitCase(t *T) {
	h, last, part := t.bereave()
	switch {
	case t.rank == 1:
		h.WaitSignal(last, 3)
		t.gone(symmem.Synchronize, "wait_signal")
		h.PutSignal(2, 4)
		symmem.Synchronize()
	case t.rank == 2:
		h.WaitSignal(1, 4)
		symmem.Synchronize()
	case part:
		h.PutSignal(last, 3)
		symmem.Synchronize()
		h.PutSignal(last, 3) // this signal is not consumed
		t.gone(symmem.Synchronize, "put_signal")
	}
}

func lossInPutCase(t *T) {
	h, last, part := t.bereave()
	if !part {
		return
	}
	src := symmem.Local(symmem.U8, 4<<20).Fill(t.rank)
	t.gone(func() {
		for {
			h.PutWithSignal(last, src, t.rank, 7)
			symmem.Synchronize()
		}
	}, "put_with_signal")
	t.gone(func() { h.Put(last, src); symmem.Synchronize() }, "put")
	t.gone(func() { h.SignalAdd(last, 0, 1); symmem.Synchronize() }, "signal_add")
	// The other ranks can still be reached.
	h.Put(2, src)
	h.PutSignal(2, 9+t.rank)
	symmem.Synchronize()
}

func lossInGetCase(t *T) {
	h, last, part := t.bereave()
	if !part {
		return
	}
	dst := symmem.Local(symmem.U8, 4<<20)
	t.gone(func() {
		for {
			h.Get(last, dst)
			symmem.Synchronize()
		}
	}, "get")
}

// lossInAllReduceCase: the ranks of the other host end, also the one whose counterpart lives but
// does not come.
func lossInAllReduceCase(t *T) {
	x := symmem.Empty(symmem.F32, 1<<20)
	symmem.Rendezvous(x)
	if _, _, part := t.bereave(); part {
		symmem.AllReduce(x, "sum")
		t.gone(symmem.Synchronize, "all_reduce")
		t.refused(symmem.KindPeer, func() { symmem.AllReduce(x, "sum") }, "out of step", "Recover")
	}
}

// lossInTilesCase is the same with a tile for every rank.
func lossInTilesCase(t *T) {
	x := symmem.Empty(symmem.F32, 1024, 256*t.size)
	symmem.Rendezvous(x)
	block := symmem.Local(symmem.F32, 1024, 256)
	scatter := func() { symmem.ReduceScatterOffset(x, []*symmem.Tensor{block}, 1, nil, nil, "sum") }
	if _, _, part := t.bereave(); part {
		scatter()
		t.gone(symmem.Synchronize, "reduce_scatter_offset")
		t.refused(symmem.KindPeer, scatter, "out of step", "Recover")
	}
}

func lossInBarrierCase(t *T) {
	h, _, _ := t.bereave()
	h.Barrier(2)
	t.gone(symmem.Synchronize, "barrier")
	t.refused(symmem.KindPeer, func() { h.Barrier(2) }, "out of step", "Recover")
}

// lossInWaitForSignalCase: a wait for a word that any rank may set ends if the killed rank is on
// another host, unless the value has arrived.
func lossInWaitForSignalCase(t *T) {
	h, last, part := t.bereave()
	src := symmem.Local(symmem.U8, 1)
	if part {
		h.PutWithSignal(t.rank^1, src, 0, 7) // before the loss
		symmem.Synchronize()
		h.WaitForSignal(1, ">=", 1)
		e := t.refused(symmem.KindPeer, symmem.Synchronize, "wait_for_signal",
			fmt.Sprintf("for signal word 1 to become 1; it is 0, but rank %d on host 1 is gone: ", last), "Recover")
		t.equal("op and peer", []any{e.Op, e.Peer}, []any{"wait_for_signal", last})
		h.WaitForSignal(0, "==", 7)
		symmem.Synchronize()
		h.WaitForSignal(1, "==", 1)
		t.gone(symmem.Synchronize, "wait_for_signal")
	}
	switch t.rank {
	case 1:
		h.PutWithSignal(2, src, 3, 1)
		symmem.Synchronize()
	case 2: // the dead rank was on this host
		h.WaitForSignal(3, "==", 1)
		symmem.Synchronize()
	}
}

// lossBesideCase: in a group that has lost a rank of another host, operations between members of
// one host go on.
func lossBesideCase(t *T) {
	h, _, part := t.bereave()
	if !part {
		return
	}
	x := symmem.LSA().Empty(symmem.U8, 16)
	near := symmem.Rendezvous(x)
	peer := t.rank ^ 1
	h.PutSignal(peer, 1)
	if t.rank == 1 {
		time.Sleep(450 * time.Millisecond) // the other rank waits when the loss comes
	}
	h.PutSignal(peer, 2)
	h.WaitSignal(peer, 2)
	h.WaitSignal(peer, 1)
	near.PutWithSignal(peer, symmem.Local(symmem.U8, 16).Fill(t.rank), 0, 1)
	near.WaitForSignal(0, "==", 1)
	near.Barrier(0)
	h.PutWithSignal(peer, symmem.Local(symmem.U8, 1), 0, 5)
	h.Put(peer, symmem.Local(symmem.U8, 1))
	symmem.Synchronize()
	near.Barrier(0)
	symmem.Synchronize()
	t.equal("data", x.Slice(0, 2).Ints(), []int{peer, peer})
	t.equal("signal", h.GetSignal(0), uint64(5))
}
