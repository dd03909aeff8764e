package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat/relaytest"
	"github.com/symmrepl/symmrepl/internal/shortdir"
)

// limit bounds the waits of a test, so that a lost message shows as a failure.
const limit = time.Minute

// bounded is a context for the calls of a test.
func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// ended returns the error with which a Serve has ended.
func ended(t *testing.T, served <-chan error) error {
	t.Helper()
	select {
	case err := <-served:
		return err
	case <-time.After(limit):
		t.Fatalf("Serve has not ended after %v", limit)
		return nil
	}
}

// world is a hub and a client for every rank over real sockets.
type world struct {
	parts   Parts
	hub     *Hub
	clients []*Client
	served  []chan error
}

func newWorld(t testing.TB, size int) *world {
	t.Helper()
	return newWorldOf(t, size, Parts{})
}

// newWorldOf is newWorld on simulated hosts.
func newWorldOf(t testing.TB, size int, parts Parts) *world {
	t.Helper()
	w := &world{hub: NewHub(size), parts: parts, clients: make([]*Client, size), served: make([]chan error, size)}
	dir := shortdir.New(t)
	for r := range size {
		w.join(t, r, dir)
	}
	return w
}

func (w *world) join(t testing.TB, rank int, dir string) {
	t.Helper()
	a, b := pair(t)
	w.served[rank] = make(chan error, 1)
	go func(ch chan error) { ch <- w.hub.Serve(rank, a); a.Close() }(w.served[rank])
	c, err := NewClient(b, rank, len(w.clients), dir, w.parts)
	if err != nil {
		t.Fatal(err)
	}
	w.clients[rank] = c
	t.Cleanup(func() { c.Close() })
}

func pair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var conns [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "pair")
		conns[i], err = net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return conns[0], conns[1]
}

// each runs f for every rank of ranks at once and returns the errors in that order.
func (w *world) each(ranks []int, f func(c *Client) error) []error {
	errs := make([]error, len(ranks))
	var wg sync.WaitGroup
	for i, r := range ranks {
		wg.Go(func() { errs[i] = f(w.clients[r]) })
	}
	wg.Wait()
	return errs
}

// open waits until n calls are open, with the given total number of arrivals.
func (w *world) open(t *testing.T, n, arrivals int) []Pending {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		p := w.hub.Pending()
		sum := 0
		for _, c := range p {
			sum += len(c.Arrived)
		}
		if len(p) == n && sum == arrivals {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d calls with %d arrivals were expected: %+v", n, arrivals, p)
		}
	}
}

func call(ordinal uint64, group ...int) Call {
	return Call{Group: group, Key: "world", Ordinal: ordinal, Op: "Empty", Desc: "bf16[8]"}
}

func TestGather(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 4)
	big := strings.Repeat("0123456789abcdef", 64<<10)
	for i, all := range [][]int{{0, 1, 2, 3}, {1, 3}, {2}} {
		for _, err := range w.each(all, func(c *Client) error {
			got, err := c.Gather(ctx, call(uint64(i), all...), []byte(fmt.Sprint("rank ", c.Rank(), big[:c.Rank()*len(big)/4])))
			for j, r := range all {
				if err == nil && string(got[j]) != fmt.Sprint("rank ", r, big[:r*len(big)/4]) {
					err = fmt.Errorf("rank %d reads %d bytes of rank %d", c.Rank(), len(got[j]), r)
				}
			}
			return err
		}) {
			if err != nil {
				t.Error(err)
			}
		}
	}
	w.open(t, 0, 0)
}

// Calls of different keys are open at once in one client and do not meet.
// counted counts the bytes that go through a connection.
type counted struct {
	net.Conn
	bytes *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}

// The cost of a call to a rank does not grow with the number of ranks, except for the contributions
// of the others, unless all contributions are equal.
func TestManyRanks(t *testing.T) {
	ctx := bounded(t)
	for _, n := range []int{3, 500} {
		var bytes atomic.Int64
		w := &world{hub: NewHub(n), clients: make([]*Client, n)}
		group := make([]int, n)
		for r := range n {
			group[r] = r
			a, b := pair(t)
			go w.hub.Serve(r, counted{a, &bytes})
			c, err := NewClient(b, r, n, "", Parts{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			w.clients[r] = c
		}
		for i, most := range []int{400, 400 + 5*n} {
			before := bytes.Load()
			for _, err := range w.each(group, func(c *Client) error {
				data := []byte("same")
				if i == 1 {
					data = fmt.Append(nil, c.Rank())
				}
				all, err := c.Gather(ctx, call(uint64(i), group...), data)
				for r, got := range all {
					if want := fmt.Sprint(r); err == nil && string(got) != want && (i == 1 || string(got) != "same") {
						err = fmt.Errorf("rank %d contributed %q", r, got)
					}
				}
				return err
			}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			if each := int(bytes.Load()-before) / n; each > most {
				t.Errorf("%d ranks: %d bytes each, not at most %d", n, each, most)
			}
		}
	}
}

func TestKeysDoNotMeet(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 2)
	for _, err := range w.each([]int{0, 1}, func(c *Client) error {
		errs := make(chan error)
		for i := range 20 {
			go func() {
				k := call(1, 0, 1)
				k.Key = fmt.Sprint("group ", (i+7*c.Rank())%20)
				got, err := c.Gather(ctx, k, []byte(k.Key))
				if err == nil && (string(got[0]) != k.Key || string(got[1]) != k.Key) {
					err = fmt.Errorf("%s got %s", k.Key, got)
				}
				errs <- err
			}()
		}
		var all []error
		for range 20 {
			all = append(all, <-errs)
		}
		return errors.Join(all...)
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestMismatch(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 3)
	for _, err := range w.each([]int{0, 1, 2}, func(c *Client) error {
		k := call(1, 0, 1, 2)
		if c.Rank() == 1 {
			k.Desc = "bf16[9]"
		}
		_, err := c.Gather(ctx, k, nil)
		return err
	}) {
		var m *MismatchError
		want := "the ranks made different collective calls: rank 0: Empty bf16[8]; rank 1: Empty bf16[9]; rank 2: Empty bf16[8]"
		if !errors.As(err, &m) || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
}

func TestLeaveAndEnter(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 3)
	absent := func(err error, rank int, text string) {
		t.Helper()
		var a *AbsentError
		if !errors.As(err, &a) || a.Rank != rank || a.Error() != text || a.Call.Ordinal == 0 {
			t.Errorf("error %v, not %q", err, text)
		}
	}
	done := make(chan error)
	for _, r := range []int{0, 2} {
		go func() { _, err := w.clients[r].Gather(ctx, call(1, 0, 1, 2), nil); done <- err }()
	}
	p := w.open(t, 1, 2)
	if !slices.Equal(p[0].Arrived, []int{0, 2}) || !slices.Equal(p[0].Missing, []int{1}) || p[0].Call.Op != "Empty" {
		t.Errorf("pending: %+v", p)
	}
	w.hub.Leave(1, "finished the cell without it")
	for range 2 {
		absent(<-done, 1, "Empty bf16[8]: rank 1 finished the cell without it")
	}
	_, err := w.clients[0].Gather(ctx, call(2, 0, 1), nil) // later calls fail at once
	absent(err, 1, "Empty bf16[8]: rank 1 finished the cell without it")
	_, err = w.clients[1].Gather(ctx, call(2, 0, 1), nil) // and so do calls of the rank itself
	absent(err, 1, "Empty bf16[8]: rank 1 finished the cell without it")
	for _, err := range w.each([]int{0, 2}, func(c *Client) error { _, err := c.Gather(ctx, call(2, 0, 2), nil); return err }) {
		if err != nil {
			t.Error(err) // the others go on without it
		}
	}
	w.hub.Enter([]int{1})
	for _, err := range w.each([]int{0, 1, 2}, func(c *Client) error { _, err := c.Gather(ctx, call(3, 0, 1, 2), nil); return err }) {
		if err != nil {
			t.Error(err)
		}
	}
}

// If several ranks are absent, the error names the first to leave.
func TestFirstToLeave(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 4)
	w.hub.Leave(2, "failed: out of memory")
	w.hub.Leave(1, "failed: Empty: rank 2 failed")
	w.hub.Leave(2, "died")
	_, err := w.clients[0].Gather(ctx, call(1, 0, 1, 2), nil)
	if err == nil || err.Error() != "Empty bf16[8]: rank 2 died" {
		t.Errorf("%v", err)
	}
}

func TestDeathAndReplacement(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 2)
	done := make(chan error)
	go func() { _, err := w.clients[0].Gather(ctx, call(1, 0, 1), nil); done <- err }()
	w.open(t, 1, 1)
	w.clients[1].conn.Close()
	if err := <-done; err == nil || err.Error() != "Empty bf16[8]: rank 1 died" {
		t.Errorf("%v", err)
	}
	if err := ended(t, w.served[1]); err != io.EOF {
		t.Errorf("served until %v", err)
	}
	w.join(t, 1, "")
	w.hub.Enter([]int{1})
	for _, err := range w.each([]int{0, 1}, func(c *Client) error { _, err := c.Gather(ctx, call(2, 0, 1), nil); return err }) {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestCancelWithdraws(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 2)
	cancelled, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { _, err := w.clients[0].Gather(cancelled, call(1, 0, 1), []byte("old")); done <- err }()
	w.open(t, 1, 1)
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("%v", err)
	}
	w.open(t, 0, 0)
	for _, err := range w.each([]int{0, 1}, func(c *Client) error {
		got, err := c.Gather(ctx, call(1, 0, 1), []byte("new"))
		if err == nil && string(got[0]) != "new" {
			err = fmt.Errorf("rank 0 contributed %q", got[0])
		}
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestRefused(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 3)
	go w.clients[1].Gather(ctx, call(9, 1, 2), nil)
	w.open(t, 1, 1)
	for _, c := range []struct {
		rank int
		call Call
		size int
		want string
	}{
		{0, call(1, 1, 2), 0, "rank 0 is not in its own group [1 2]"},
		{0, call(1, 0, 3), 0, "[0 3] is not an ascending list of ranks below 3"},
		{0, call(1, 1, 0), 0, "[1 0] is not an ascending list of ranks below 3"},
		{0, call(9, 0, 2), 0, "rank 0 names the group [0 2], others [1 2]"},
		{1, call(9, 1, 2), 0, "rank 1 makes call 9 of world twice at once"},
		{0, call(1, 0, 1), MaxData + 1, "16777217 bytes are more than the 16777216 a rank may contribute"},
	} {
		_, err := w.clients[c.rank].Gather(ctx, c.call, make([]byte, c.size))
		if err == nil || err.Error() != "Empty bf16[8]: "+c.want {
			t.Errorf("%v, not %s", err, c.want)
		}
	}
	w.clients[0].Close()
	if _, err := w.clients[0].Gather(ctx, call(1, 0, 1), nil); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

func TestWrongHello(t *testing.T) {
	hub := NewHub(2)
	a, b := pair(t)
	defer a.Close() // not before the client has read the refusal
	served := make(chan error, 1)
	go func() { served <- hub.Serve(1, a) }()
	c, err := NewClient(b, 0, 2, "", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ended(t, served); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("rank 1 of 2, protocol %d was expected", Version)) {
		t.Errorf("the hub says %v", err)
	}
	if _, err := c.Gather(bounded(t), call(1, 0, 1), nil); err == nil || !strings.Contains(err.Error(), "another build") {
		t.Errorf("the client says %v", err)
	}
}

// A rank that does not read its answers does not delay other ranks.
func TestSlowReader(t *testing.T) {
	hub := NewHub(2)
	a, slow := pair(t)
	defer slow.Close()
	slow.SetDeadline(time.Now().Add(limit))
	go hub.Serve(1, a)
	out := frame.NewWriter(slow)
	if err := out.Write(request{Hello: &hello{Version, 1, 2}}, nil); err != nil {
		t.Fatal(err)
	}
	b, c := pair(t)
	go hub.Serve(0, b)
	client, err := NewClient(c, 0, 2, "", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, data := bounded(t), make([]byte, 1<<20) // more than a socket buffers without a reader
	for i := range 4 {
		k := call(uint64(i+1), 0, 1)
		if err := out.Write(request{Gather: &gather{uint64(i + 1), "0-1", k}}, data); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Gather(ctx, k, data); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzHub feeds a hub arbitrary bytes from a rank.
func FuzzHub(f *testing.F) {
	start, _ := frame.Append(nil, request{Hello: &hello{Version, 0, 2}}, nil)
	one, _ := frame.Append(start, request{Gather: &gather{1, "0-1", call(1, 0, 1)}}, []byte("data"))
	two, _ := frame.Append(slices.Clone(one), request{Withdraw: 1}, nil)
	f.Add(one)
	f.Add(two)
	f.Add(start[:5])
	f.Fuzz(func(t *testing.T, in []byte) {
		a, b := net.Pipe()
		go io.Copy(io.Discard, b)
		go func() { b.Write(in); b.Close() }()
		hub := NewHub(2)
		if err := hub.Serve(0, a); err == nil {
			t.Fatal("Serve ended without a reason")
		}
		a.Close()
		if p := hub.Pending(); len(p) != 0 {
			t.Fatalf("a rank that is gone left %+v", p)
		}
	})
}

func BenchmarkGather4(b *testing.B)    { benchmarkGather(b, 4) }
func BenchmarkGather1024(b *testing.B) { benchmarkGather(b, 1024) }

func benchmarkGather(b *testing.B, n int) {
	w := newWorld(b, n)
	group := make([]int, n)
	for r := range group {
		group[r] = r
	}
	for i := range b.N {
		w.each(group, func(c *Client) error {
			_, err := c.Gather(context.Background(), call(uint64(i), group...), []byte("8 bytes."))
			if err != nil {
				b.Error(err)
			}
			return err
		})
	}
}

// A hub with TellDepartures reports departures, also to ranks that come later; a client notices the
// departure of the hub by itself.
func TestDepartures(t *testing.T) {
	w := newWorld(t, 3)
	w.hub.TellDepartures()
	left := make(chan string, 9)
	tell := func(by int) func(int, string) {
		return func(rank int, why string) { left <- fmt.Sprintf("%d: rank %d, %s", by, rank, why) }
	}
	w.clients[0].OnLeft(tell(0))
	w.clients[2].Close()
	if got := <-left; got != "0: rank 2, died" {
		t.Error(got)
	}
	w.clients[1].OnLeft(tell(1)) // the departure was reported before
	if got := <-left; got != "1: rank 2, died" {
		t.Error(got)
	}
	a, b := pair(t)
	go w.hub.Serve(1, a)
	later, err := NewClient(b, 1, 3, "", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { later.Close() })
	later.OnLeft(tell(9))
	if got := <-left; got != "9: rank 2, died" {
		t.Error(got)
	}
	a.Close()
	if got := <-left; got != "9: rank 0, died" && got != "0: rank 1, died" {
		t.Error(got)
	}
}

// A lost rank stays absent, and all others are informed, also ranks that come later.
func TestLost(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 3)
	type loss struct {
		rank int
		why  string
	}
	told := make(chan loss, 10)
	listen := func(rank int) {
		w.clients[rank].OnLost(func(rank int, why string) { told <- loss{rank, why} })
	}
	listen(0)
	done := make(chan error)
	go func() { _, err := w.clients[0].Gather(ctx, call(1, 0, 1, 2), nil); done <- err }()
	w.open(t, 1, 1)
	for range 2 {
		w.hub.Lose(2, "no heartbeat for 10s")
	}
	const want = "Empty bf16[8]: rank 2 was lost: no heartbeat for 10s"
	if err := <-done; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	w.clients[1].Close()
	ended(t, w.served[1])
	w.join(t, 1, "")
	listen(1)
	for range 2 {
		if l := <-told; l != (loss{2, "no heartbeat for 10s"}) {
			t.Errorf("%+v", l)
		}
	}
	listen(1) // again
	if l := <-told; l.rank != 2 {
		t.Errorf("%+v", l)
	}
	w.hub.Enter([]int{0, 1, 2})
	w.hub.Leave(2, "is not running this cell")
	if _, err := w.clients[0].Gather(ctx, call(2, 0, 2), nil); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if len(told) > 0 {
		t.Errorf("told again: %+v", <-told)
	}
}

// A silent client is lost, and a client that does not hear the hub counts rank 0 as lost.
func TestSilentClient(t *testing.T) {
	const limit = 500 * time.Millisecond
	ctx := bounded(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	relay := relaytest.Start(t, l.Addr().String())
	w := newWorld(t, 3)
	dialled, err := net.Dial("tcp", relay.Address)
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	near, far := heartbeat.New(accepted), heartbeat.New(dialled)
	near.Start(limit)
	far.Start(limit)
	w.clients[2].Close()
	ended(t, w.served[2])
	served := make(chan error, 1)
	go func() { served <- w.hub.Serve(2, near); near.Close() }()
	c, err := NewClient(far, 2, 3, "", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	w.hub.Enter([]int{2})
	told := make(chan string, 10)
	w.clients[1].OnLost(func(rank int, why string) { told <- fmt.Sprint("1 hears of ", rank, " ", why) })
	c.OnLost(func(rank int, why string) { told <- fmt.Sprint("2 hears of ", rank, " ", why) })
	errs := make(chan error, 2)
	go func() { _, err := w.clients[0].Gather(ctx, call(1, 0, 1, 2), nil); errs <- err }()
	go func() { _, err := c.Gather(ctx, call(1, 0, 1, 2), nil); errs <- err }()
	w.open(t, 1, 2)
	relay.Cut()
	defer relay.Mend()
	if err := ended(t, served); err == nil || err.Error() != "no heartbeat for 500ms" {
		t.Errorf("served until %v", err)
	}
	said := []string{<-told, <-told, (<-errs).Error(), (<-errs).Error()}
	slices.Sort(said)
	if want := []string{
		"1 hears of 2 no heartbeat for 500ms", "2 hears of 0 no heartbeat for 500ms",
		"Empty bf16[8]: rank 2 was lost: no heartbeat for 500ms", "bootstrap: rank 2 lost the session: no heartbeat for 500ms",
	}; !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}
