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
func (rt *Runtime) postFence(op string, n *networks.Network) {
	c := rt.ownCall(op)
	c.opts.stream = rt.first
	defer c.Enter().Leave()
	c.PickStream()
	rt.expect(op, 1)
	c.Launch("net_post", 0, launch.OneBlock(1), launch.Bytes(&knet.NetPostArgs{Context: rt.kernelContext(rt.all, &c.opts, 0), Port: n.Port,
		Op: abi.NetOp{Kind: abi.NetFence, Peer: abi.NetAllPeers}, Member: uint64(rt.rank)}))
}

// hold keeps the engine awake while work of s may post what nobody announced, where kernels cannot ring its bell. What is captured does so in
// each replay. rt.mu is held.
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

// holdFor is how long a stream holds the engine at least, and how often hold looks whether it has come to rest.
const holdFor = time.Millisecond

// release ends the holds of streams that have come to rest, until there are none or the world is closed. A capture forbids to ask.
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

// flush waits until the memory that operations read and write here is no longer in use, or the world is aborted.
func (rt *Runtime) flush() error {
	n := rt.net.Load()
	if n == nil {
		return nil
	}
	some, err := n.Flush(rt.host())
	if errors.Is(err, context.Canceled) {
		return nil // whoever aborted connects again, which drops what is under way
	}
	if err == nil && some {
		rt.sanitizer.Flushed(false)
	}
	return err
}

// expect tells the engine how many operations a launch posts, where kernels cannot ring its bell. What is captured is announced by each replay. rt.mu is held.
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
