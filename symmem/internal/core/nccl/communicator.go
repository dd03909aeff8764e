package nccl

import (
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const (
	tick         = 10 * time.Millisecond // between questions for failures
	kernelsLimit = time.Second           // for kernels of the user's to end after EndKernels
)

// Communicator is a member's part of a communicator. Its methods may be called from several
// goroutines.
type Communicator struct {
	Name string // of NCCL, "NCCL 2.28.9"
	C    device.Communicator

	owner Owner

	mu       sync.Mutex
	ended    bool
	why      error  // NCCL's failure that ended it, or nil
	pending  []Call // that may not be over, the latest of each stream, puts apart
	marks    []placed
	watched  bool // by a goroutine
	launched bool // kernels of the user's use it
}

// Owner hears of the end of a communicator. It must not call the communicator meanwhile.
type Owner interface {
	GaveUp(Call) // a call that was under way is given up
	EndKernels() // kernels of the user's are to end
}

// Stream is a stream on which calls are issued. Equal streams are one.
type Stream interface {
	AtRest() bool // it has nothing to do, or was closed; false where that cannot be told
	// Mark marks the end of the work that was issued so far. It moves old, unless that is nil.
	Mark(old Mark) (Mark, error)
}

// Mark is a place in a stream.
type Mark interface {
	Reached() bool // false where that cannot be told
	Close()
}

// placed is the mark behind the latest call of a stream, or behind its latest put.
type placed struct {
	on   Stream
	puts bool
	mark Mark
}

// Call is a call that may be under way.
type Call struct {
	On      Stream
	ID      uint32
	Timeout time.Duration // 0 for none: of kernels of the user's, whose waits know no time
	Puts    bool          // it waits for nobody, and uses memory of the communicator's

	issued time.Time
	mark   Mark // behind it; nil if it could not be made
}

// over reports whether the call is over, or its stream was closed. Later work of the stream may go on.
func (t Call) over() bool { return t.mark != nil && t.mark.Reached() || t.On.AtRest() }

// Since returns the time since the call was issued.
func (t Call) Since() time.Duration { return time.Since(t.issued) }

// Expired reports whether the call has taken longer than it may.
func (t Call) Expired() bool { return t.Timeout > 0 && t.Since() > t.Timeout }

// New returns a communicator that was joined.
func New(name string, c device.Communicator, o Owner) *Communicator {
	return &Communicator{Name: name, C: c, owner: o}
}

// Watch looks after a call that was issued just now.
func (c *Communicator) Watch(t Call) {
	t.issued, t.mark = time.Now(), c.markBehind(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = slices.DeleteFunc(c.pending, func(o Call) bool { return o.On == t.On && o.Puts == t.Puts })
	c.pending = append(c.pending, t)
	if !c.watched && !c.ended {
		c.watched = true
		go c.watch()
	}
}

// markBehind marks the end of a call; nil if that fails. It may wait for a goroutine that waits for the
// stream, so c.mu is not held.
func (c *Communicator) markBehind(t Call) Mark {
	c.mu.Lock()
	var old Mark
	for _, p := range c.marks {
		if p.on == t.On && p.puts == t.Puts {
			old = p.mark
		}
	}
	c.mu.Unlock()
	mark, err := t.On.Mark(old)
	if err != nil {
		return nil
	}
	if mark != old {
		c.mu.Lock()
		c.marks = append(c.marks, placed{t.On, t.Puts, mark})
		c.mu.Unlock()
	}
	return mark
}

// WatchKernel is Watch for a kernel of the user's. One that was captured is not under way; it uses
// the communicator from now on all the same.
func (c *Communicator) WatchKernel(t Call, captured bool) {
	c.mu.Lock()
	c.launched = true
	c.mu.Unlock()
	if !captured {
		c.Watch(t)
	}
}

// watch looks for failures as long as a call may be under way.
func (c *Communicator) watch() {
	for {
		time.Sleep(tick)
		over := slices.DeleteFunc(c.Pending(), func(t Call) bool { return !t.over() })
		c.mu.Lock()
		c.pending = slices.DeleteFunc(c.pending, func(t Call) bool { return slices.Contains(over, t) })
		c.watched = len(c.pending) > 0 && !c.ended
		goOn, expired := c.watched, slices.ContainsFunc(c.pending, Call.Expired)
		c.mu.Unlock()
		if !goOn {
			return
		}
		if err := c.C.Failure(); err != nil || expired {
			c.End(err)
			return
		}
	}
}

// Pending lists the calls that may be under way.
func (c *Communicator) Pending() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.pending)
}

// Ended reports whether the communicator has ended, and the failure of NCCL's that ended it, if one
// did.
func (c *Communicator) Ended() (ended bool, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended, c.why
}

// End ends the communicator and the kernels of its calls. why is NCCL's failure, or nil. It returns
// at once.
func (c *Communicator) End(why error) { c.end(why, true) }

// GiveUp is End, except that a communicator without a call of this rank is ended later, by Release:
// another member may still wait in it.
func (c *Communicator) GiveUp() { c.end(nil, false) }

func (c *Communicator) end(why error, idle bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended, c.why = true, why
	pending := slices.DeleteFunc(slices.Clone(c.pending), Call.over)
	puts := false
	for _, t := range pending {
		if puts = puts || t.Puts; !t.Puts {
			c.owner.GaveUp(t)
		}
	}
	switch {
	case len(pending) == 0 && !idle:
	case c.launched || puts:
		go c.stop(pending)
	default:
		c.C.End(len(pending) > 0)
	}
}

// stop lets kernels of the user's end, and puts, and then the communicator, whose memory they use.
func (c *Communicator) stop(pending []Call) {
	c.owner.EndKernels()
	for until := time.Now().Add(kernelsLimit); time.Now().Before(until); time.Sleep(tick) {
		if !slices.ContainsFunc(pending, func(t Call) bool { return !t.over() }) {
			break
		}
	}
	c.C.End(true)
}

// forget closes the marks.
func (c *Communicator) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.marks {
		p.mark.Close()
	}
	c.marks, c.pending = nil, nil
}

// Release gives back communicators that have ended, once the streams of all members have come to
// rest. One that is not over until then is left to NCCL's thread.
func Release(list []*Communicator, until time.Time) {
	for _, c := range list {
		c.C.End(false)
	}
	for _, c := range list {
		c.C.Ended(time.Until(until))
		c.C.Free()
		c.forget()
	}
}
