package zmtp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// dial connects as a socket of this kind.
func dial(t *testing.T, l net.Listener, kind string) *conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	k, err := shake(c, kind)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(testPatience))
	return k
}

// testPatience bounds every wait for a message.
const testPatience = 30 * time.Second

// next returns the next request that a peer has sent to r.
func next(t *testing.T, r *Router) Request {
	t.Helper()
	select {
	case q := <-r.Requests():
		return q
	case <-time.After(testPatience):
		t.Fatal("the router received no request")
		return Request{}
	}
}

func (c *conn) send(t *testing.T, frames ...string) {
	t.Helper()
	var message [][]byte
	for _, f := range frames {
		message = append(message, []byte(f))
	}
	if _, err := c.Write(encode(message)); err != nil {
		t.Fatal(err)
	}
}

func (c *conn) receive(t *testing.T) string {
	t.Helper()
	message, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(message, []byte("|")))
}

func TestRouter(t *testing.T) {
	l := listener(t)
	r := NewRouter(l)
	defer r.Close()
	a, b := dial(t, l, "DEALER"), dial(t, l, "DEALER")
	long := strings.Repeat("x", 70_000)
	a.send(t, "from a", "", long)
	first := next(t, r)
	b.send(t, "from b")
	second := next(t, r)
	if string(first.Message[0]) != "from a" || len(first.Message) != 3 || string(first.Message[2]) != long ||
		string(second.Message[0]) != "from b" || first.Peer == second.Peer {
		t.Fatalf("%.20q from %q, %q from %q", first.Message, first.Peer, second.Message, second.Peer)
	}
	if !r.Send(second.Peer, []byte("to b")) || !r.Send(first.Peer, []byte("to"), []byte(long)) || r.Send("nobody", []byte("lost")) {
		t.Error("Send does not know which peers are connected")
	}
	if got := a.receive(t); got != "to|"+long {
		t.Errorf("a gets %.20q", got)
	}
	if got := b.receive(t); got != "to b" {
		t.Errorf("b gets %q", got)
	}
}

func TestPublisher(t *testing.T) {
	l := listener(t)
	p := NewPublisher(l, func(topic string) [][]byte { return [][]byte{[]byte("welcome"), []byte(topic)} })
	defer p.Close()
	all, some := dial(t, l, "SUB"), dial(t, l, "SUB")
	select {
	case <-p.Subscribed():
		t.Error("a peer that has not subscribed counts as one that has")
	default:
	}
	all.send(t, "\x01")
	some.send(t, "\x01kernel.")
	<-p.Subscribed()
	if got := all.receive(t) + " " + some.receive(t); got != "welcome| welcome|kernel." {
		t.Fatalf("welcomed by %q", got)
	}
	p.Publish([]byte("other"), []byte("1"))
	p.Publish([]byte("kernel.x"), []byte("2"))
	if got := all.receive(t) + " " + all.receive(t) + " " + some.receive(t); got != "other|1 kernel.x|2 kernel.x|2" {
		t.Errorf("published %q", got)
	}
	some.send(t, "\x00kernel.")
	some.send(t, "\x01last")
	some.receive(t)
	p.Publish([]byte("kernel.y"))
	p.Publish([]byte("last"))
	if got := some.receive(t); got != "last" {
		t.Errorf("after the subscription ended came %q", got)
	}
}

// subscribed returns a publisher and peers that have subscribed to all messages.
func subscribed(t *testing.T, peers int) (p *Publisher, all []*conn) {
	l := listener(t)
	p = NewPublisher(l, func(string) [][]byte { return [][]byte{[]byte("welcome")} })
	t.Cleanup(func() { p.Close() })
	for range peers {
		c := dial(t, l, "SUB")
		c.send(t, "\x01")
		c.receive(t)
		all = append(all, c)
	}
	return p, all
}

func part(i int) string { return fmt.Sprint(i, strings.Repeat("x", 1<<20)) }

// leftOut returns the message that tells a peer how much it missed.
func leftOut(messages, bytes int) [][]byte {
	return [][]byte{fmt.Appendf(nil, "%d messages, %d MiB", messages, bytes>>20)}
}

// A peer that does not read delays the others once, and only for patience. Its queue is bounded and
// keeps its order; one message replaces the rest and says how much is missing.
func TestStoppedSubscriber(t *testing.T) {
	p, peers := subscribed(t, 2)
	stopped, reading := peers[0], peers[1]
	start := time.Now()
	for i := range 100 {
		offered := make(chan struct{})
		go func() {
			p.Offer(leftOut, []byte(part(i)))
			close(offered)
		}()
		if got := reading.receive(t); got != part(i) {
			t.Fatalf("message %d arrived as %.20q", i, got)
		}
		select {
		case <-offered:
		case <-time.After(testPatience):
			t.Fatalf("message %d waits for a peer that does not read", i)
		}
	}
	if took := time.Since(start); took < patience {
		t.Errorf("the publisher did not wait for the peer: it took all messages within %v", took)
	}
	p.Publish([]byte("last"))
	p.mu.Lock()
	for _, peer := range p.peers {
		peer.mu.Lock()
		if peer.queued > maxOffered+2<<20 {
			t.Errorf("%d bytes wait for a peer", peer.queued)
		}
		peer.mu.Unlock()
	}
	p.mu.Unlock()
	for i := 0; ; i++ {
		if got := stopped.receive(t); got != part(i) {
			if want := string(leftOut(100-i, (100-i)<<20)[0]); i < maxOffered>>20 || got != want {
				t.Fatalf("message %d arrived late as %.30q, want %q", i, got, want)
			}
			break
		}
	}
	if got := stopped.receive(t); got != "last" {
		t.Errorf("after the missing messages the peer receives %.20q", got)
	}
	p.Offer(leftOut, []byte("more"))
	if got := stopped.receive(t); got != "more" {
		t.Errorf("a peer that reads again receives %.20q", got)
	}
}

// A peer that reads slowly misses no message.
func TestSlowSubscriber(t *testing.T) {
	p, peers := subscribed(t, 1)
	go func() {
		for i := range 150 {
			p.Offer(leftOut, []byte(part(i)))
		}
	}()
	for i := range 150 {
		if i < 20 {
			time.Sleep(patience / 30)
		}
		if got := peers[0].receive(t); got != part(i) {
			t.Fatalf("message %d arrived as %.30q", i, got)
		}
	}
}

// A peer is disconnected if messages sent with Publish fill its queue.
func TestFullQueue(t *testing.T) {
	p, peers := subscribed(t, 1)
	for i := range 2*maxQueued>>20 + 1 {
		p.Publish([]byte(part(i)))
	}
	for i := 0; ; i++ {
		if _, err := peers[0].read(); err != nil {
			break
		} else if i > 2*maxQueued>>20 {
			t.Fatal("the peer stays connected")
		}
	}
}

func TestEcho(t *testing.T) {
	l := listener(t)
	e := NewEcho(l)
	defer e.Close()
	c := dial(t, l, "REQ")
	for i := range 3 {
		c.send(t, "", fmt.Sprint("ping", i))
		if got := c.receive(t); got != fmt.Sprint("|ping", i) {
			t.Errorf("echo %q", got)
		}
	}
}

// TestStrangers checks that a client that does not speak the protocol is disconnected and costs no
// memory.
func TestStrangers(t *testing.T) {
	l := listener(t)
	r := NewRouter(l)
	defer r.Close()
	greeting := "\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x00NULL" + strings.Repeat("\x00", 48)
	for name, said := range map[string]string{
		"another protocol":         "GET / HTTP/1.1\r\n\r\n" + strings.Repeat(" ", 64),
		"an old version":           "\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x01\x00" + strings.Repeat("\x00", 52),
		"another mechanism":        "\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x00CURVE" + strings.Repeat("\x00", 47),
		"a message before READY":   greeting + "\x00\x01x",
		"a malformed READY":        greeting + "\x04\x08\x05READY\xffa",
		"a large frame at once":    greeting + "\x06\x7f\xff\xff\xff\xff\xff\xff\xff",
		"a large frame afterwards": greeting + "\x04\x06\x05READY" + "\x02\x7f\xff\xff\xff\xff\xff\xff\xff",
		"large frames":             greeting + "\x04\x06\x05READY" + "\x01\x01x" + "\x02\x00\x00\x00\x00\x10\x00\x00\x00",
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Write([]byte(said))
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, net.ErrClosed) || err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: the connection stays (%v)", name, err)
		}
		c.Close()
	}
	a := dial(t, l, "DEALER")
	a.send(t, "still there")
	if got := next(t, r); string(got.Message[0]) != "still there" {
		t.Errorf("got %q", got.Message)
	}
}

// FuzzFrames checks that no bytes make the reader panic, or allocate memory for a frame that was
// announced but not sent.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"))
	f.Add(encode([][]byte{[]byte("a"), bytes.Repeat([]byte("b"), 300)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		parseReady(flagCommand, b)
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() {
			theirs.Write(b)
			theirs.Close()
		}()
		c := newConn(ours)
		for {
			if _, err := c.read(); err != nil {
				return
			}
		}
	})
}
