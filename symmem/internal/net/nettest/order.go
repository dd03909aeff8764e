package nettest

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// A play consists of rounds, each a put of rank 0 followed by a signal. Rank 1 checks the data as
// soon as it sees the signal.
type play struct {
	*Rank
	src   []byte
	round int
}

const (
	playBytes  = 100000
	playSignal = 0 // signals the end of a round
	playEcho   = 1
	playData   = 2 // signal that belongs to the put
)

func (r *Rank) newPlay() *play { return &play{Rank: r, src: r.alloc(playBytes)} }

// rounds plays n rounds, and returns how often rank 1 saw the signal before the data.
func (p *play) rounds(n int, post func(put abi.NetOp)) (early int) {
	for range n {
		p.round++
		fill(p.src, p.round)
		if p.Rank.Rank == 0 {
			post(abi.NetOp{Kind: abi.NetPut, Peer: 1, Local: local(p.src), Bytes: playBytes, Window: windowID, Counter: abi.NetNoCounter})
			p.await(playEcho, uint64(p.round))
			continue
		}
		p.await(playSignal, uint64(p.round))
		if !bytes.Equal(p.Memory[:playBytes], p.src) {
			early++
		}
		p.await(playData, uint64(p.round))
		if !bytes.Equal(p.Memory[:playBytes], p.src) {
			p.Failf("round %d: data is not there after the signal that belongs to it", p.round)
		}
		p.signal(0, playEcho, 0)
	}
	return early
}

// strong: strong signals in separate messages cover the put before them.
func (p *play) strong(n int) {
	early := p.rounds(n, func(put abi.NetOp) {
		put.Signal, put.SignalAt, put.Value = abi.NetAddIndexed, playData, 1
		p.post(put)
		p.signal(1, playSignal, 1)
	})
	if early > 0 {
		p.Failf("%d of %d strong signals were early", early, n)
	}
}

// own: weak signals cover the put to which they belong.
func (p *play) own(n int) {
	early := p.rounds(n, func(put abi.NetOp) {
		p.signal(1, playData, 0)
		put.Signal, put.SignalAt, put.Value = abi.NetAddIndexed, playSignal, 1
		p.post(put)
	})
	if early > 0 {
		p.Failf("%d of %d weak signals were earlier than their own data", early, n)
	}
}

// weak: weak signals in separate messages do not cover the put before them.
func (p *play) weak(n int) (early int) {
	return p.rounds(n, func(put abi.NetOp) {
		put.Signal, put.SignalAt, put.Value = abi.NetAddIndexed, playData, 1
		p.post(put)
		p.signal(1, playSignal, 0)
	})
}

// order: the guarantees of signals.
func order(r *Rank) {
	r.open()
	p := r.newPlay()
	p.strong(50)
	p.own(50)
	p.weak(50) // early or not
	r.Meet()
	r.Close()
}

// seeds: the guarantees of signals with messages reordered in many ways. Weak signals are early
// then.
func seeds(r *Rank) {
	r.open()
	p := r.newPlay()
	early := 0
	for seed := range uint64(r.Seeds) {
		r.check(r.SetNull(net.NullSettings{Reorder: true, Seed: seed}))
		p.strong(10)
		p.own(10)
		r.check(r.SetNull(net.NullSettings{Reorder: true, Delay: 2 * time.Millisecond, Seed: seed}))
		p.strong(4)
		p.own(4)
		early += p.weak(8)
	}
	if r.Rank == 1 && early == 0 {
		r.Failf("of %d weak signals behind a put none was early", 8*r.Seeds)
	}
	r.Meet()
	r.Close()
}

// fences: when a fence is over, all earlier operations are complete, at one peer or at all.
func fences(r *Rank) {
	r.open()
	board, _, _ := r.Board()
	src := r.alloc(2 << 20)
	for i := range 30 {
		fill(src, i)
		if r.Rank == 0 {
			for peer := 1; peer < r.Size; peer++ {
				for k := range 5 {
					r.put(peer, src[k*1000:(k+1)*1000], k*1000)
				}
				r.put(peer, src[5000:], 5000)
			}
			if i%2 == 0 {
				r.post(abi.NetOp{Kind: abi.NetFence, Peer: abi.NetAllPeers, Counter: 1})
			} else {
				for peer := 1; peer < r.Size; peer++ {
					r.post(abi.NetOp{Kind: abi.NetFence, Peer: uint32(peer), Counter: 2})
				}
			}
			r.flush()
			if all, one := atomic.LoadUint64(&board.Counters[1]),
				atomic.LoadUint64(&board.Counters[2]); all != uint64(i/2+1) || one != uint64((i+1)/2*(r.Size-1)) {
				r.Failf("after round %d the counters are %d and %d", i, all, one)
			}
		}
		r.Meet() // through the controller, not by messages
		if r.Rank != 0 && !bytes.Equal(r.Memory[:len(src)], src) {
			r.Failf("round %d: the fence was over, and data not in place", i)
		}
		r.Meet()
	}
	r.Close()
}
