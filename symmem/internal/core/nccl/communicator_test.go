package nccl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// library is a communicator whose failures a test sets.
type library struct {
	device.Communicator
	mu      sync.Mutex
	failure error
	did     []string
}

func (l *library) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.did = append(l.did, what)
}

func (l *library) done() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.did)
}

func (l *library) Failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}
func (l *library) End(bool)                 { l.note("end") }
func (l *library) Ended(time.Duration) bool { l.note("ended"); return true }
func (l *library) Free()                    { l.note("free") }

// owner notes what it is told.
type owner struct {
	mu    sync.Mutex
	calls []Call
	told  bool
}

func (o *owner) GaveUp(t Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, t)
}

func (o *owner) EndKernels() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = true
}

func (o *owner) ids() (ids []uint32, told bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.calls {
		ids = append(ids, t.ID)
	}
	return ids, o.told
}

// busy is a stream that rests when the test says so.
type busy struct{ ctx context.Context }

func (b busy) AtRest() bool { return b.ctx.Err() != nil }

func (b busy) Mark(old Mark) (Mark, error) {
	m, _ := old.(*mark)
	if m == nil {
		m = &mark{}
	}
	m.moved++
	return m, nil
}

// mark is reached when the test says so.
type mark struct {
	moved           int
	reached, closed atomic.Bool
}

func (m *mark) Reached() bool { return m.reached.Load() }
func (m *mark) Close()        { m.closed.Store(true) }

func stream(t *testing.T) (s busy, rest func()) {
	ctx, cancel := context.WithCancel(t.Context())
	return busy{ctx}, cancel
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 500 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: not within 5 s", what)
}

// A failure of NCCL's ends the communicator, and the calls that have not rested are given up; puts
// are not, and are let end first.
func TestFailure(t *testing.T) {
	l, o := &library{}, &owner{}
	c := New("NCCL 2", l, o)
	a, restA := stream(t)
	b, restB := stream(t)
	c.Watch(Call{On: a, ID: 1})
	c.Watch(Call{On: a, ID: 2}) // in place of the first, which ends before it
	c.Watch(Call{On: b, ID: 3, Puts: true})
	if n := len(c.Pending()); n != 2 {
		t.Errorf("%d calls are under way, want the latest of the stream and the put", n)
	}
	failed := errors.New("it broke")
	l.mu.Lock()
	l.failure = failed
	l.mu.Unlock()
	eventually(t, "ended", func() bool { ended, why := c.Ended(); return ended && why == failed })
	if ids, _ := o.ids(); !slices.Equal(ids, []uint32{2}) {
		t.Errorf("given up were the calls %v, want 2 alone", ids)
	}
	eventually(t, "kernels are told", func() bool { _, told := o.ids(); return told })
	restA()
	restB()
	eventually(t, "the end", func() bool { return slices.Equal(l.done(), []string{"end"}) })
	Release([]*Communicator{c}, time.Now())
	if got := l.done(); !slices.Equal(got, []string{"end", "end", "ended", "free"}) {
		t.Errorf("NCCL was told %v", got)
	}
}

// A call that takes longer than it may ends the communicator.
func TestTimeout(t *testing.T) {
	l, o := &library{}, &owner{}
	c := New("NCCL 2", l, o)
	s, _ := stream(t)
	c.WatchKernel(Call{On: s, ID: 7, Timeout: 30 * time.Millisecond}, false)
	eventually(t, "ended", func() bool { ended, why := c.Ended(); return ended && why == nil })
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.calls) != 1 || o.calls[0].ID != 7 || !o.calls[0].Expired() {
		t.Errorf("given up were %+v", o.calls)
	}
}

// A call is over when the place behind it is reached, whatever its stream does then.
func TestLaterWork(t *testing.T) {
	l, o := &library{}, &owner{}
	c := New("NCCL 2", l, o)
	s, _ := stream(t)
	c.Watch(Call{On: s, ID: 1})
	c.Watch(Call{On: s, ID: 2, Timeout: time.Hour})
	m := c.Pending()[0].mark.(*mark)
	if m.moved != 2 {
		t.Errorf("the mark was set %d times, want one mark for both calls", m.moved)
	}
	m.reached.Store(true)
	eventually(t, "over", func() bool { return len(c.Pending()) == 0 })
	c.End(nil)
	if ids, _ := o.ids(); len(ids) > 0 {
		t.Errorf("given up were %v, which were over", ids)
	}
	Release([]*Communicator{c}, time.Now())
	if !m.closed.Load() {
		t.Error("the mark was not closed")
	}
}

// Giving up the waits of the world leaves a communicator that nothing uses to Release; an end does
// not.
func TestIdle(t *testing.T) {
	l, o := &library{}, &owner{}
	c := New("NCCL 2", l, o)
	s, rest := stream(t)
	c.Watch(Call{On: s, ID: 1})
	rest()
	c.GiveUp()
	if ended, why := c.Ended(); !ended || why != nil || len(l.done()) > 0 || len(o.calls) > 0 {
		t.Errorf("ended %v for %v, NCCL was told %v, given up were %v", ended, why, l.done(), o.calls)
	}
	c.End(nil) // again, which does nothing
	if len(l.done()) > 0 {
		t.Errorf("NCCL was told %v", l.done())
	}
	other := New("NCCL 2", l, o)
	other.End(nil)
	if !slices.Equal(l.done(), []string{"end"}) {
		t.Errorf("NCCL was told %v", l.done())
	}
}
