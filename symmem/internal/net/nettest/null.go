package nettest

import (
	"context"
	"errors"
	"time"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// lossy: if the null network drops a message, weak signals after it arrive, strong ones and fences
// wait, and a new epoch ends the wait.
func lossy(r *Rank) {
	r.open()
	if r.Rank == 0 {
		r.check(r.SetNull(net.NullSettings{Drop: 1}))
		r.signal(1, 0, 0)
		r.flush()
		r.check(r.SetNull(net.NullSettings{}))
		r.signal(1, 1, 1)
		r.signal(1, 2, 0)
		number := r.post(abi.NetOp{Kind: abi.NetFence, Peer: 1, Counter: 3})
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		if err := r.Wait(ctx, number); !errors.Is(err, context.DeadlineExceeded) {
			r.Failf("a fence behind a dropped message: %v", err)
		}
		cancel()
		if p := r.Peers()[1]; p.Posted != 4 || p.Sent != 3 {
			r.Failf("%+v", p)
		}
	} else {
		r.await(2, 1)
	}
	r.Meet()
	if r.Rank == 1 {
		if p := r.Peers()[0]; p.Parked != 1 || p.Landed != 1 || r.Signals()[0] != 0 || r.Signals()[1] != 0 {
			r.Failf("%+v, signals %v", p, r.Signals()[:3])
		}
	}
	r.Meet()
	r.connect(2)
	if r.Rank == 0 {
		r.signal(1, 1, 1)
		r.fence(1)
	} else {
		r.await(1, 1)
	}
	r.Meet()
	r.Close()
}

// slow: the null network's delay and bandwidth follow its settings, and change while it runs.
func slow(r *Rank) {
	r.open()
	src := r.alloc(2 << 20)
	echo := func(n int, round uint64) time.Duration {
		start := time.Now()
		if r.Rank == 0 {
			r.put(1, src[:n], 0)
			r.signal(1, 0, 1)
			r.await(0, round)
		} else {
			r.await(0, round)
			r.signal(0, 0, 1)
		}
		return time.Since(start)
	}
	for i, c := range []struct {
		set         net.NullSettings
		bytes       int
		least, most time.Duration
	}{
		{net.NullSettings{Delay: 50 * time.Millisecond}, 8, 100 * time.Millisecond, 5 * time.Second},
		{net.NullSettings{Bandwidth: 10e6}, 2 << 20, 200 * time.Millisecond, 5 * time.Second},
		{net.NullSettings{}, 8, 0, 90 * time.Millisecond},
	} {
		r.check(r.SetNull(c.set))
		r.Meet()
		if took := echo(c.bytes, uint64(i+1)); r.Rank == 0 && (took < c.least || took > c.most) {
			r.Failf("%+v: there and back in %v", c.set, took)
		}
		r.Meet()
	}
	r.Close()
}
