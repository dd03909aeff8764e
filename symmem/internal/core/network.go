package symmem

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
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

// networking is what carries operations between hosts, or why nothing does.
type networking struct {
	choice    string                  // of the network, as the program or the session gave it
	net       atomic.Pointer[network] // nil if none carries operations between hosts
	noNetwork atomic.Pointer[string]  // why there is none, though the world spans hosts
	posting   atomic.Bool             // kernels of the user's were given what posts operations for other hosts
}

// network is a rank's engine, and what its kernels need of it.
type network struct {
	engine *net.Engine
	name   string // "the null network", "UCX 1.22.0 on lo"
	memory unsafe.Pointer
	bytes  int  // of it
	null   bool // the network is the null network
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

// connectNetwork connects the engines of the ranks of g, all that are left, and opens this rank's before if there is none. It is collective over g. That a rank
// cannot have an engine is an error of all, unless they were told to do without.
func (rt *Runtime) connectNetwork(op string, g *Group) error {
	n := rt.net.Load()
	gate, err := rt.agreeGate(op, g)
	if err != nil {
		return err
	}
	mine := networkReport{Arch: runtime.GOARCH, Device: rt.info.Kind}
	if n == nil {
		if n, err = rt.openNetwork(gate); err != nil {
			mine.Why = err.Error()
			if failed := (*net.Error)(nil); errors.As(err, &failed) {
				mine.Why = failed.Why
			}
		}
	}
	if n != nil {
		n.engine.Admit(gate.Secret)
		mine.Address, mine.Secret = n.engine.Address(), n.secret
	}
	g.meeting.Lock()
	defer g.meeting.Unlock()
	all, err := agree(g, op, "the network", mine, nil)
	if err == nil {
		err = alike(g, op, all)
	}
	why := ""
	for i, peer := range all {
		if peer.Why != "" && why == "" {
			why = fmt.Sprintf("rank %d has no network: %s", g.ranks[i], peer.Why)
		}
	}
	if err == nil && why != "" && rt.choice != noChoice {
		hint := "--net none, or SYMMREPL_NET=none, does without one: groups then stay within hosts"
		if rt.simulated() && rt.choice != "null" {
			hint = "--net null, or SYMMREPL_NET=null, needs no library between simulated hosts; " + hint
		}
		err = &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: -1, Msg: why, Hint: hint}
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
	for i, peer := range all {
		n.peers[g.ranks[i]] = peer.Address
	}
	rt.net.Store(n)
	_, err = agree(g, op, "the network is connected", struct{}{}, errors.Join(rt.reconnect(), rt.watchNetwork()))
	return err
}

// alike refuses members of g that are of another sort than its first: their memory may not mean the same.
func alike(g *Group, op string, all []networkReport) error {
	for i, peer := range all {
		if peer.Arch != all[0].Arch || peer.Device != all[0].Device {
			return &Error{Kind: KindMismatch, Op: op, Rank: g.rt.rank, Peer: g.ranks[i], Msg: fmt.Sprintf("rank %d runs on %s (%s), rank %d on %s (%s)", g.ranks[0], all[0].Device, all[0].Arch, g.ranks[i], peer.Device, peer.Arch),
				Hint: "a world is of ranks of one sort"}
		}
	}
	return nil
}

// reconnect begins the epoch of this generation, with the ranks that are left: what others still send is dropped. No kernel may be at work.
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
	peers := maps.Clone(n.peers)
	maps.DeleteFunc(peers, func(r int, _ []byte) bool { return !slices.Contains(rt.remaining(), r) })
	err := n.engine.Connect(uint32(rt.generation), n.secret, peers)
	if err == nil {
		rt.sawFlush(true)
	}
	return err
}

// openNetwork opens this rank's engine.
func (rt *Runtime) openNetwork(gate networkGate) (*network, error) {
	config, settings, err := rt.networkConfig(gate)
	if err != nil {
		return nil, err
	}
	if config.Provider == "null" {
		if err := os.MkdirAll(config.Dir, 0o700); err != nil {
			return nil, err
		}
	}
	n := &network{name: "the null network", null: config.Provider == "null", settings: settings, window: 1}
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
	n.memory, n.bytes = unsafe.Pointer(board), bytes
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

// between says what carries traffic between hosts: "the null network", "UCX 1.22.0 on lo", or "nothing".
func (rt *Runtime) between() string {
	if n := rt.net.Load(); n != nil {
		return n.name
	}
	return "nothing"
}

// tellsWithin is how long a table of waits waits for what peers say that they have sent. They answer at once, but for a network that delays or drops it.
const tellsWithin = 20 * time.Millisecond

// traffic says what the engine knows of a peer on another host, and what that says itself, for whoever waits for it. It is empty if the peer is gone.
func (rt *Runtime) traffic(ctx context.Context, rank int) string {
	n := rt.net.Load()
	if n == nil {
		return ""
	}
	n.engine.Ask(ctx, rank) // without an answer there is an earlier one, or none
	p := n.engine.Peer(rank)
	if p.State != net.Connected {
		return ""
	}
	text := fmt.Sprintf("network to rank %d: %d posted, %d sent; from it: ", rank, p.Posted, p.Sent)
	if p.Told == 0 || p.ItsMessages < p.Landed { // what it said is older
		return text + fmt.Sprintf("%d landed", p.Landed)
	}
	text += fmt.Sprintf("%d posted, %d sent, %d of %d messages landed", p.ItsPosted, p.ItsSent, p.Landed, p.ItsMessages)
	if p.Landed < p.ItsMessages {
		text += fmt.Sprintf(", not message %d", p.Missing)
	}
	return text
}

// mostTraffic is of how many peers trafficOf tells.
const mostTraffic = 4

// trafficOf is traffic with those that a wait of a call is for: " (network to rank 2: ...; network to rank 3: ...)". One that may be for any
// member is for those on other hosts.
func (rt *Runtime) trafficOf(c *Record, peers []int) string {
	if len(peers) == 0 && c.group != nil && c.group.spans() {
		peers = c.group.others()
	}
	peers = slices.DeleteFunc(slices.Clone(peers), func(r int) bool { return rt.partOf(r) == rt.partOf(rt.rank) })
	var list []string
	ctx, cancel := context.WithTimeout(context.Background(), tellsWithin)
	defer cancel()
	for i, r := range peers {
		if len(list) == mostTraffic {
			list = append(list, fmt.Sprintf("and %d ranks more", len(peers)-i))
			break
		}
		if t := rt.traffic(ctx, r); t != "" {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, "; ") + ")"
}

// loss says that a peer is gone, and why.
func (rt *Runtime) loss(rank int) string {
	at := ""
	if len(rt.places.Load().Hosts) > 1 {
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
		gone = p.Hosts[rt.hostOf(0)]
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
		state = n.engine.Peer(rank)
	}
	return state
}
