package symmem

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/kernels/abi"
	knet "github.com/symmrepl/symmrepl/kernels/net"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
)

// fence waits until the puts of this rank to other hosts are in place. Memory may be freed when all
// ranks have done so and met.
func (rt *Runtime) fence(op string) {
	n := rt.net.Load()
	if n == nil {
		return
	}
	rt.postFence(op, n)
	rt.synchronize(op)
}

// postFence puts a fence into the ring, by a kernel: the host would need the count of taken
// numbers, which may be in the memory of a device.
func (rt *Runtime) postFence(op string, n *networks.Network) {
	c := rt.ownCall(op)
	c.opts.stream = rt.first
	defer c.Enter().Leave()
	c.PickStream()
	rt.expect(op, 1)
	c.Launch("net_post", 0, launch.OneBlock(1), launch.Bytes(&knet.NetPostArgs{Context: rt.kernelContext(rt.all, &c.opts, 0), Port: n.Port,
		Op: abi.NetOp{Kind: abi.NetFence, Peer: abi.NetAllPeers}, Member: uint64(rt.rank)}))
}

// hold keeps the engine awake while work of s may post operations that are not announced, if
// kernels cannot ring the engine's bell. Captured work does so in each replay. rt.mu is held.
func (rt *Runtime) hold(op string, s *Stream) {
	n := rt.net.Load()
	switch {
	case n == nil || !n.Announced():
		return
	case rt.capture != nil:
		rt.capture.holds = true
		return
	case slices.Contains(rt.holding, s):
		return
	}
	if err := n.Engine.Hold(); err != nil {
		panic(rt.failure(op, err))
	}
	if rt.holding = append(rt.holding, s); len(rt.holding) == 1 {
		go rt.release(n)
	}
}

// holdFor is the least time that a stream holds the engine, and the interval at which release looks
// whether the stream is at rest.
const holdFor = time.Millisecond

// release ends the holds of streams that are at rest, until there are no holds or the world is
// closed. During a capture streams cannot be asked.
func (rt *Runtime) release(n *networks.Network) {
	for more := true; more; {
		time.Sleep(holdFor)
		rt.mu.Lock()
		if rt.capture == nil {
			rt.holding = slices.DeleteFunc(rt.holding, func(s *Stream) bool { return s.rests(true) && n.Engine.Release() == nil })
		}
		more = len(rt.holding) > 0 && !rt.closed.Load()
		rt.mu.Unlock()
	}
}

// flushed reports whether flush would return at once.
func (rt *Runtime) flushed() bool {
	n := rt.net.Load()
	return n == nil || n.Flushed()
}

// flush waits until the memory that operations read and write here is no longer in use, or the
// world is aborted.
func (rt *Runtime) flush() error {
	n := rt.net.Load()
	if n == nil {
		return nil
	}
	some, err := n.Flush(rt.host())
	if errors.Is(err, context.Canceled) {
		return nil // Recover connects again, which drops messages under way
	}
	if err == nil && some {
		rt.sanitizer.Flushed(false)
	}
	return err
}

// expect announces to the engine how many operations a launch posts, if kernels cannot ring its
// bell. Each replay announces those of captured work. rt.mu is held.
func (rt *Runtime) expect(op string, posts int) {
	n := rt.net.Load()
	if n == nil || !n.Announced() || posts == 0 {
		return
	}
	if rt.capture != nil {
		rt.capture.posts += posts
		return
	}
	if err := n.Engine.Expect(posts); err != nil {
		panic(rt.failure(op, err))
	}
}
