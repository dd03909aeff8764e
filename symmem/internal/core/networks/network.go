package networks

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// Network is a rank's open engine, with the memory that it shares with kernels.
type Network struct {
	Engine *net.Engine
	Bytes  int    // of the board and the words behind it
	Name   string // "the null network", "UCX 1.22.0 on lo"
	Null   bool   // the network is the null network
	Port   abi.NetPort
	Secret uint64         // by which ranks know each other; connected ones have the first rank's
	Peers  map[int][]byte // addresses by rank

	dev    device.Device
	memory unsafe.Pointer // of the board and the words behind it, mapped for kernels
	count  device.Ptr     // of taken numbers, if it is not the board's: where kernels cannot ring the engine's bell

	// Guarded by the owner's lock.
	Settings net.NullSettings // of the null network
	window   uint32           // the next id
	words    []Span           // of the signals, in use, ascending
}

// Open opens the engine that was chosen, at a place.
func Open(c Choice, at Place, dev device.Device) (*Network, error) {
	config, settings, err := c.config(at, dev)
	if err != nil {
		return nil, err
	}
	n := &Network{Name: "the null network", Null: config.Provider == "null", Secret: secret(), dev: dev, Settings: settings, window: 1}
	if n.Null {
		if err := os.MkdirAll(config.Dir, 0o700); err != nil {
			return nil, err
		}
	}
	if n.Engine, err = net.Open(config); err != nil {
		return nil, err
	}
	if config.Provider == "ucx" {
		if l, err := net.Available(); err == nil { // as it is open
			n.Name = "UCX " + l.Version
		}
		if config.Interface != "" {
			n.Name += " on " + config.Interface
		}
	}
	if n.Null {
		if err := n.Engine.SetNull(settings); err != nil {
			n.Engine.Close()
			return nil, err
		}
	}
	board, _, bytes := n.Engine.Board()
	n.memory, n.Bytes = unsafe.Pointer(board), bytes
	p, err := dev.MapHost(n.memory, bytes)
	if err != nil {
		n.Engine.Close()
		return nil, err
	}
	n.Port = abi.NetPort{Board: p, Posted: p + device.Ptr(unsafe.Offsetof(board.Posted)), Signals: p + device.Ptr(unsafe.Sizeof(*board))}
	if !config.CanRing {
		if n.count, err = dev.Alloc(8); err != nil {
			return nil, errors.Join(err, n.Close())
		}
		n.Port.Posted = n.count
	}
	return n, nil
}

// Close ends the engine. No kernel may run any more.
func (n *Network) Close() error {
	err := n.dev.UnmapHost(n.memory)
	if n.count != 0 {
		err = errors.Join(err, n.dev.Free(n.count))
	}
	n.Engine.Close()
	return err
}

// Connect begins an epoch with the ranks that are left: messages of earlier epochs are dropped. No
// kernel may be at work.
func (n *Network) Connect(epoch int, left []int) error {
	if n.count != 0 {
		for word := range device.Ptr(2) {
			if err := n.dev.Poke(n.count+4*word, 0); err != nil {
				return err
			}
		}
	}
	peers := maps.Clone(n.Peers)
	maps.DeleteFunc(peers, func(r int, _ []byte) bool { return !slices.Contains(left, r) })
	return n.Engine.Connect(uint32(epoch), n.Secret, peers)
}

// Announced reports whether operations must be announced to the engine before kernels post them,
// because kernels cannot ring its bell.
func (n *Network) Announced() bool { return n.count != 0 }

// posted returns the number of operations that the kernels have posted.
func (n *Network) posted() (uint64, error) {
	if n.count == 0 {
		board, _, _ := n.Engine.Board()
		return atomic.LoadUint64(&board.Posted), nil
	}
	var b [8]byte
	err := n.dev.Peek(b[:], n.count)
	return binary.NativeEndian.Uint64(b[:]), err
}

// Flushed reports whether Flush would return at once.
func (n *Network) Flushed() bool {
	posted, err := n.posted()
	board, _, _ := n.Engine.Board()
	return err == nil && atomic.LoadUint64(&board.Done) >= posted
}

// Flush waits until the memory that posted operations read and write here is no longer in use. It
// reports whether there were any.
func (n *Network) Flush(ctx context.Context) (some bool, err error) {
	posted, err := n.posted()
	if err != nil || posted == 0 {
		return false, err
	}
	return true, n.Engine.Wait(ctx, posted-1)
}

// Moves adds the messages under way to the progress of this rank.
func (n *Network) Moves(to *seam.Progress, rank int) {
	to.Stands = to.Stands && n.Flushed()
	for _, peer := range n.Engine.Peers() {
		if peer.Rank == rank {
			continue
		}
		// Questions and answers for a table of waits are no progress: only numbered messages count.
		to.Stands = to.Stands && peer.Posted == peer.Sent && peer.Parked == 0
		to.Exchanged = append(to.Exchanged, seam.Exchanged{Peer: peer.Rank, Sent: peer.Numbered, Landed: peer.Landed})
		for _, count := range []uint64{peer.Posted, peer.Sent, peer.Numbered, peer.Landed} {
			to.Mix(count)
		}
	}
}

// overtaking is the least time that a message takes while a seed of the sanitizer chooses the order
// of messages; the most is twice as long. It is longer than the engine sleeps, so that kernels see
// the order.
const overtaking = 300 * time.Microsecond

// slower multiplies the time with one seed in eight: on a busy machine kernels do not see a shorter
// one.
const slower = 10

// Tune gives the null network its settings. With a seed of the sanitizer, which is not 0, messages
// overtake each other, in an order that it chooses. The owner's lock is held.
func (n *Network) Tune(seed int64) error {
	s := n.Settings
	if seed != 0 {
		delay := overtaking
		if seed%8 == 7 {
			delay *= slower
		}
		s.Reorder, s.Delay, s.Seed = true, max(s.Delay, delay), s.Seed+uint64(seed)
	}
	return n.Engine.SetNull(s)
}

// Span is words [First, End) of the signals.
type Span struct{ First, End int }

// Take takes free words.
func (n *Network) Take(words int) (Span, error) {
	at, i := 0, 0
	for ; i < len(n.words) && n.words[i].First-at < words; i++ {
		at = n.words[i].End
	}
	if at+words > Signals {
		return Span{}, fmt.Errorf("no room for %d words of signals of a group that spans hosts: free groups, or SetSignalPadSize to less", words)
	}
	s := Span{at, at + words}
	n.words = slices.Insert(n.words, i, s)
	return s, nil
}

// Give returns words.
func (n *Network) Give(s Span) {
	n.words = slices.DeleteFunc(n.words, func(o Span) bool { return o == s })
}

// In returns the words of a span.
func (n *Network) In(s Span) []uint64 { return n.Engine.Signals()[s.First:s.End] }

// Forget ends the windows of a tensor: id is of its data, and the next one of its signal pad.
func (n *Network) Forget(id uint32) error {
	return errors.Join(n.Engine.Forget(id), n.Engine.Forget(id+1))
}
