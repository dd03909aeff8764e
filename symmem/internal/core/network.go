package symmem

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	knet "github.com/symmrepl/symmrepl/kernels/net"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// The network
//
// A world that spans hosts has one engine on each rank (package net), opened when the world is built. The ranks exchange addresses over the
// hub, and all connect with the world's generation as their epoch: what Recover gives up never arrives. If one rank has no engine none
// is used, and groups that span hosts go without what only an engine can carry.
//
// A group that spans hosts has words among the signals of every member's board, for symm/net.cuh: a place that each member picks. A
// tensor that such a group has rendezvoused is two windows, the data and the signal pad, whose ids all members agree on.

// network is a rank's engine, and what its kernels need of it.
type network struct {
	engine *net.Engine
	name   string // "the null network", "UCX 1.22.0 on lo"
	memory unsafe.Pointer
	port   abi.NetPort
	count  device.Ptr // of taken numbers, if it is not the board's: where kernels cannot ring the engine's bell
	secret uint64
	peers  map[int][]byte // addresses by rank

	// Guarded by the runtime's mu.
	settings net.NullSettings // of the null network
	window   uint32           // the next id
	words    []span           // of the signals, in use, ascending
}

// span is words [first, end).
type span struct{ first, end int }

// netSignals is the words behind the board: those of about 150 groups with the usual signal pad.
const netSignals = 1 << 20

// networkReport is what a rank says about its end of the network.
type networkReport struct {
	Arch    string
	Device  string
	Address []byte
	Secret  uint64 // that of rank 0 counts
	Why     string // it has no engine
}

// connectNetwork connects the engines of all ranks, and opens this rank's before if there is none. It is collective over the world. That a rank
// cannot have an engine is an error of all, unless they were told to do without.
func (rt *Runtime) connectNetwork(op string) error {
	g := rt.all
	n := rt.net.Load()
	mine := networkReport{Arch: runtime.GOARCH, Device: rt.info.Kind}
	if n == nil {
		var err error
		if n, err = rt.openNetwork(); err != nil {
			mine.Why = err.Error()
		}
	}
	if n != nil {
		mine.Address, mine.Secret = n.engine.Address(), n.secret
	}
	g.meeting.Lock()
	defer g.meeting.Unlock()
	all, err := agree(g, op, "the network", mine, nil)
	if err == nil {
		err = alike(rt, op, all)
	}
	why := ""
	for r, peer := range all {
		if peer.Why != "" && why == "" {
			why = fmt.Sprintf("rank %d has no network: %s", r, peer.Why)
		}
	}
	if err == nil && why != "" && rt.choice != noChoice {
		err = &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: -1, Msg: why, Hint: "--net none, or SYMMREPL_NET=none, does without one: groups then stay within hosts"}
	}
	if err != nil || why != "" {
		if n != nil {
			rt.net.Store(nil)
			err = errors.Join(err, n.close(rt))
		}
		rt.noNetwork.Store(&why)
		return err
	}
	n.secret, n.peers = all[0].Secret, map[int][]byte{}
	for r, peer := range all {
		n.peers[r] = peer.Address
	}
	rt.net.Store(n)
	_, err = agree(g, op, "the network is connected", struct{}{}, rt.reconnect())
	return err
}

// alike refuses ranks that are of another sort than rank 0: their memory may not mean the same.
func alike(rt *Runtime, op string, all []networkReport) error {
	for r, peer := range all {
		if peer.Arch != all[0].Arch || peer.Device != all[0].Device {
			return &Error{Kind: KindMismatch, Op: op, Rank: rt.rank, Peer: r, Msg: fmt.Sprintf("rank 0 runs on %s (%s), rank %d on %s (%s)", all[0].Device, all[0].Arch, r, peer.Device, peer.Arch),
				Hint: "a world is of ranks of one sort"}
		}
	}
	return nil
}

// reconnect begins the epoch of this generation. No kernel may be at work.
func (rt *Runtime) reconnect() error {
	n := rt.net.Load()
	if n == nil {
		return nil
	}
	if n.count != 0 {
		for word := range device.Ptr(2) {
			if err := rt.dev.Poke(n.count+4*word, 0); err != nil {
				return err
			}
		}
	}
	return n.engine.Connect(uint32(rt.generation), n.secret, n.peers)
}

// openNetwork opens this rank's engine.
func (rt *Runtime) openNetwork() (*network, error) {
	config, settings, err := rt.networkConfig()
	if err != nil {
		return nil, err
	}
	if config.Provider == "null" {
		if err := os.MkdirAll(config.Dir, 0o700); err != nil {
			return nil, err
		}
	}
	n := &network{name: "the null network", settings: settings, window: 1}
	if n.engine, err = net.Open(config); err != nil {
		return nil, err
	}
	if config.Provider == "ucx" {
		if l, err := net.Available(); err == nil { // as it is open
			n.name = "UCX " + l.Version
		}
		if config.Interface != "" {
			n.name += " on " + config.Interface
		}
	}
	if config.Provider == "null" {
		if err := n.engine.SetNull(settings); err != nil {
			n.engine.Close()
			return nil, err
		}
	}
	var secret [8]byte
	rand.Read(secret[:])
	n.secret = binary.NativeEndian.Uint64(secret[:])
	board, _, bytes := n.engine.Board()
	n.memory = unsafe.Pointer(board)
	at, err := rt.dev.MapHost(n.memory, bytes)
	if err != nil {
		n.engine.Close()
		return nil, err
	}
	n.port = abi.NetPort{Board: at, Posted: at + device.Ptr(unsafe.Offsetof(board.Posted)), Signals: at + device.Ptr(unsafe.Sizeof(*board))}
	if !config.CanRing {
		if n.count, err = rt.dev.Alloc(8); err != nil {
			return nil, errors.Join(err, n.close(rt))
		}
		n.port.Posted = n.count
	}
	rt.load("net_post", "net_copy", "net_put_signal", "net_wait_signal", "net_wait_for_signal", "net_barrier")
	return n, nil
}

// close ends the engine. No kernel may run any more.
func (n *network) close(rt *Runtime) error {
	err := rt.dev.UnmapHost(n.memory)
	if n.count != 0 {
		err = errors.Join(err, rt.dev.Free(n.count))
	}
	n.engine.Close()
	return err
}

// Carrier is what would carry traffic between real hosts here: "UCX 1.22.0", or "nothing" with the reason.
func Carrier() string {
	l, err := net.Available()
	if err != nil {
		return "nothing (" + err.Error() + ")"
	}
	return "UCX " + l.Version
}

// Between says what carries traffic between hosts: "the null network", "UCX 1.22.0 on lo", or "nothing".
func Between(rt *Runtime) string {
	if n := rt.net.Load(); n != nil {
		return n.name
	}
	return "nothing"
}

// take finds n free words.
func (n *network) take(words int) (span, error) {
	at, i := 0, 0
	for ; i < len(n.words) && n.words[i].first-at < words; i++ {
		at = n.words[i].end
	}
	if at+words > netSignals {
		return span{}, fmt.Errorf("no room for %d words of signals of a group that spans hosts: free groups, or SetSignalPadSize to less", words)
	}
	s := span{at, at + words}
	n.words = slices.Insert(n.words, i, s)
	return s, nil
}

func (n *network) give(s span) {
	n.words = slices.DeleteFunc(n.words, func(o span) bool { return o == s })
}

// netWords is how many words a group has in the signals of each member: of channels, of kernels that count completions, of pipes.
func (g *Group) netWords() int { return g.pipesAt() + g.pipeWords() }

// pipesAt is where those of pipes begin.
func (g *Group) pipesAt() int { return g.channelWords() + abi.Counters }

// channelWords are those of its channels.
func (g *Group) channelWords() int { return knet.Words * g.channels * len(g.ranks) }

// wire gives the group its words. It is collective over the group; a holder of g.meeting calls it.
func (g *Group) wire(op, desc string) error {
	rt := g.rt
	n := rt.net.Load()
	if n == nil || !g.spans() {
		return nil
	}
	rt.mu.Lock()
	s, err := n.take(g.netWords())
	next := n.window
	rt.mu.Unlock()
	if err == nil {
		clear(n.engine.Signals()[s.first:s.end]) // of a group that was freed; nobody adds to them any more
	}
	all, failed := agree(g, op, desc+", words", wiring{s.first, next}, err)
	if failed != nil {
		if err == nil {
			rt.mu.Lock()
			defer rt.mu.Unlock()
			n.give(s)
		}
		return failed
	}
	g.wired = s
	var words []int
	for _, member := range all {
		words, next = append(words, member.Words), max(next, member.Window)
	}
	rt.mu.Lock()
	n.window = next + 1
	rt.mu.Unlock()
	if err = g.writeTables(n, words); err == nil {
		err = g.openPipes(n, next)
	}
	_, err = agree(g, op, desc+", tables", struct{}{}, err)
	return err
}

// wiredUp reports whether kernels that get a handle of the group can post operations for other hosts.
func (g *Group) wiredUp() bool { return g.table != 0 }

// wiring is what a member says of its words and windows.
type wiring struct {
	Words  int    // where the group's begin
	Window uint32 // the next id
}

// netTables is the bytes that a group's tables take at most.
func netTables(members int) int {
	return aligned(int(unsafe.Sizeof(abi.NetGroup{})) + members*(int(unsafe.Sizeof(abi.NetMember{}))+4))
}

// writeTables puts what kernels know of the members behind the rest of the workspace. words says where each member's words begin.
func (g *Group) writeTables(n *network, words []int) error {
	l := g.layout()
	base := g.work.seg.Ptr()
	g.table = base + device.Ptr(l.tables)
	members, partners := make([]abi.NetMember, len(words)), g.partners()
	for i, first := range words {
		members[i] = abi.NetMember{Rank: uint32(g.ranks[i]), Words: uint32(first), Block: g.work.blocks[i]}
	}
	g.links = abi.NetGroup{Port: n.port, Counts: base + device.Ptr(l.epochs), Members: g.table + device.Ptr(unsafe.Sizeof(g.links)), PartnerCount: uint64(len(partners))}
	g.links.Partners = g.links.Members + device.Ptr(len(members))*device.Ptr(unsafe.Sizeof(members[0]))
	tables := slices.Concat(BytesOf(&g.links), bytesOfAll(members), bytesOfAll(partners))
	s, err := g.rt.dev.NewStream() // others may wait for peers
	if err != nil {
		return err
	}
	return errors.Join(s.Write(g.table, tables), s.Synchronize(), s.Close())
}

// bytesOfAll is BytesOf for a list.
func bytesOfAll[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

// unwire gives the words back. rt.mu is held.
func (g *Group) unwire() {
	if n := g.rt.net.Load(); n != nil && g.wired != (span{}) {
		n.give(g.wired)
		if g.inboxes != 0 && n.engine.Forget(g.inboxes) != nil {
			g.work.mapped = nil // something may still land there
		}
	}
	g.inboxes = 0
	g.wired, g.links, g.table = span{}, abi.NetGroup{}, 0
}

// pendingOver is pending for the signals to and from other hosts.
func (g *Group) pendingOver() (list []string, err error) {
	n := g.rt.net.Load()
	if n == nil || !g.spans() {
		return nil, nil
	}
	words := n.engine.Signals()[g.wired.first:g.wired.end]
	counts := make([]uint64, len(words))
	if err := g.rt.dev.Peek(unsafe.Slice((*byte)(unsafe.Pointer(&counts[0])), 8*len(counts)), g.links.Counts); err != nil {
		return nil, err
	}
	for channel := range g.channels {
		for peer, r := range g.ranks {
			at := func(kind int) int { return (kind*g.channels+channel)*len(g.ranks) + peer }
			if i := at(knet.Raised); atomic.LoadUint64(&words[i]) != counts[i] {
				list = append(list, fmt.Sprintf("%v: a signal of rank %d on channel %d was not awaited", g, r, channel))
			}
			if i := at(knet.Consumed); atomic.LoadUint64(&words[i]) != counts[i] {
				list = append(list, fmt.Sprintf("%v: rank %d has not awaited the signal put to it on channel %d", g, r, channel))
			}
		}
	}
	return list, nil
}

// partners are the members of other hosts that this one meets in a barrier for its host: every two hosts have one such pair.
func (g *Group) partners() (list []uint32) {
	for i, part := range g.parts {
		if i != g.home && g.here()[i%len(g.here())] == g.rt.rank {
			list = append(list, uint32(slices.Index(g.ranks, part[g.home%len(part)])))
		}
	}
	return list
}

// expose makes the allocation's data and signal pad windows of the members of g. It is collective over the group; a holder of g.meeting calls it.
func (a *allocation) expose(op string, g *Group) error {
	rt := a.rt
	n := rt.net.Load()
	if n == nil || !g.spans() || a.windows[g] != 0 {
		return nil
	}
	rt.mu.Lock()
	next := n.window
	rt.mu.Unlock()
	all, err := agree(g, op, "windows of "+a.id, next, nil)
	if err != nil {
		return err
	}
	id := slices.Max(all)
	rt.mu.Lock()
	n.window = id + 2
	rt.mu.Unlock()
	err = n.engine.Window(id, uintptr(a.seg.Ptr())+uintptr(aligned(a.pad)), max(a.size, 1))
	if err == nil {
		err = n.engine.Window(id+1, uintptr(a.seg.Ptr()), a.pad)
	}
	_, err = agree(g, op, "windows of "+a.id+" are known", struct{}{}, err)
	if err != nil {
		return errors.Join(err, n.forget(id))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if a.windows == nil {
		a.windows = map[*Group]uint32{}
	}
	a.windows[g] = id
	return nil
}

// forget ends the windows of a tensor in a group.
func (n *network) forget(id uint32) error {
	return errors.Join(n.engine.Forget(id), n.engine.Forget(id+1))
}

// conceal ends the allocation's windows, of one group or, if that is nil, of all. An error says that its memory must stay.
func (a *allocation) conceal(g *Group) (err error) {
	n := a.rt.net.Load()
	for of, id := range a.windows {
		if g == nil || of == g {
			if n != nil {
				err = errors.Join(err, n.forget(id))
			}
			delete(a.windows, of)
		}
	}
	return err
}

// fence waits until what this rank has put to other hosts is in place there. Memory may be freed when all have done so and met.
func (rt *Runtime) fence(op string) {
	n := rt.net.Load()
	if n == nil {
		return
	}
	rt.postFence(op, n)
	rt.synchronize(op)
}

// postFence puts a fence into the ring. A kernel does it: the host would need the count of taken numbers, which may be in the memory of a device.
func (rt *Runtime) postFence(op string, n *network) {
	c := rt.ownCall(op)
	c.opts.stream = rt.first
	defer c.Enter().Leave()
	c.Begin()
	rt.expect(op, 1)
	c.Launch("net_post", 0, oneBlock(1), BytesOf(&knet.NetPostArgs{Context: rt.kernelContext(rt.all, &c.opts, 0), Port: n.port,
		Op: abi.NetOp{Kind: abi.NetFence, Peer: abi.NetAllPeers}, Member: uint64(rt.rank)}))
}

// hold keeps the engine awake while work of s may post what nobody announced, where kernels cannot ring its bell. What is captured does so in
// each replay. rt.mu is held.
func (rt *Runtime) hold(op string, s *Stream) {
	n := rt.net.Load()
	switch {
	case n == nil || n.count == 0:
		return
	case rt.capture != nil:
		rt.capture.holds = true
		return
	case slices.Contains(rt.holding, s):
		return
	}
	if err := n.engine.Hold(); err != nil {
		panic(rt.failure(op, err))
	}
	if rt.holding = append(rt.holding, s); len(rt.holding) == 1 {
		go rt.release(n)
	}
}

// holdFor is how long a stream holds the engine at least, and how often hold looks whether it has come to rest.
const holdFor = time.Millisecond

// release ends the holds of streams that have come to rest, until there are none or the world is closed. A capture forbids to ask.
func (rt *Runtime) release(n *network) {
	for more := true; more; {
		time.Sleep(holdFor)
		rt.mu.Lock()
		if rt.capture == nil {
			rt.holding = slices.DeleteFunc(rt.holding, func(s *Stream) bool { return s.rests() && n.engine.Release() == nil })
		}
		more = len(rt.holding) > 0 && !rt.closed.Load()
		rt.mu.Unlock()
	}
}

// flushed reports whether flush would return at once.
func (rt *Runtime) flushed() bool {
	n := rt.net.Load()
	if n == nil {
		return true
	}
	posted, err := n.posted(rt)
	board, _, _ := n.engine.Board()
	return err == nil && atomic.LoadUint64(&board.Done) >= posted
}

// flush waits until the memory that operations read and write here is no longer in use, or the world is aborted.
func (rt *Runtime) flush() error {
	n := rt.net.Load()
	if n == nil {
		return nil
	}
	posted, err := n.posted(rt)
	if err != nil || posted == 0 {
		return err
	}
	err = n.engine.Wait(rt.host(), posted-1)
	if errors.Is(err, context.Canceled) {
		return nil // whoever aborted connects again, which drops what is under way
	}
	return err
}

// posted is how many operations the kernels have posted.
func (n *network) posted(rt *Runtime) (uint64, error) {
	if n.count == 0 {
		board, _, _ := n.engine.Board()
		return atomic.LoadUint64(&board.Posted), nil
	}
	var b [8]byte
	err := rt.dev.Peek(b[:], n.count)
	return binary.NativeEndian.Uint64(b[:]), err
}

// expect tells the engine how many operations a launch posts, where kernels cannot ring its bell. What is captured is announced by each replay. rt.mu is held.
func (rt *Runtime) expect(op string, posts int) {
	n := rt.net.Load()
	if n == nil || n.count == 0 || posts == 0 {
		return
	}
	if rt.capture != nil {
		rt.capture.posts += posts
		return
	}
	if err := n.engine.Expect(posts); err != nil {
		panic(rt.failure(op, err))
	}
}

// hostOf is the number of a rank's host in the world.
func (rt *Runtime) hostOf(rank int) int {
	return slices.IndexFunc(rt.places.Load().hosts, func(host []int) bool { return slices.Contains(host, rank) })
}

// traffic says what the engine knows of a peer on another host, for whoever waits for it; it is empty for others.
func (rt *Runtime) traffic(rank int) string {
	if p := rt.peerState(rank); p.State == net.Connected && rt.partOf(rank) != rt.partOf(rt.rank) {
		return fmt.Sprintf("network to rank %d: %d posted, %d sent; from it: %d landed", rank, p.Posted, p.Sent, p.Landed)
	}
	return ""
}

// mostTraffic is of how many peers trafficOf tells.
const mostTraffic = 4

// trafficOf is traffic with those that a wait of a call is for: " (network to rank 2: ...; network to rank 3: ...)". One that may be for any
// member is for those on other hosts.
func (rt *Runtime) trafficOf(c *Record, peers []int) string {
	if len(peers) == 0 && c.group != nil && c.group.spans() {
		peers = c.group.others()
	}
	var list []string
	for _, r := range peers {
		if t := rt.traffic(r); t != "" {
			list = append(list, t)
		}
	}
	if more := len(list) - mostTraffic; more > 0 {
		list = append(list[:mostTraffic], fmt.Sprintf("and %d ranks more", more))
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, "; ") + ")"
}

// loss says that a peer is gone, and why.
func (rt *Runtime) loss(rank int) string {
	at := ""
	if len(rt.places.Load().hosts) > 1 {
		at = fmt.Sprintf(" on host %d", rt.hostOf(rank))
	}
	return fmt.Sprintf("rank %d%s is gone: %s", rank, at, cmp.Or(rt.peerState(rank).Why, "the network lost it"))
}

// lost tells the engine that a rank is gone for good, and with rank 0 all of its host if that is another. Waits that depend on them then end.
func (rt *Runtime) lost(rank int, why string) {
	n, p := rt.net.Load(), rt.places.Load()
	if n == nil || p == nil {
		return // the world is not built yet, and will not be
	}
	gone := []int{rank}
	if rank == 0 && !rt.sameHost(0) {
		gone = p.hosts[rt.hostOf(0)]
	}
	for _, r := range gone {
		if rt.partOf(r) != rt.partOf(rt.rank) {
			n.engine.Lose(r, why) // fails only when the world is closed
		}
	}
}

// peerState is what the engine knows of a rank, if there is one.
func (rt *Runtime) peerState(rank int) (state net.PeerState) {
	if n := rt.net.Load(); n != nil {
		for _, p := range n.engine.Peers() {
			if p.Rank == rank {
				state = p
			}
		}
	}
	return state
}
