package nvshmem

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// memory is a device of which the tests have the memory alone: addresses count from 4096.
type memory struct {
	device.Device
	mu    sync.Mutex
	bytes [4096]byte
}

func (m *memory) Peek(dst []byte, src device.Ptr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	copy(dst, m.bytes[src-4096:])
	return nil
}

func (m *memory) Poke(dst device.Ptr, value uint32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	binary.NativeEndian.PutUint32(m.bytes[dst-4096:], value)
	return nil
}

func (m *memory) word(at device.Ptr) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return binary.NativeEndian.Uint64(m.bytes[at-4096:])
}

// stream runs one wait: it is at rest once the word lets the wait end.
type stream struct {
	m    *memory
	rest atomic.Bool
}

func (s *stream) AtRest() bool { return s.rest.Load() }

// issue runs a wait on the stream.
func (s *stream) issue(t *testing.T, w *Watch, wait Wait) {
	t.Helper()
	err := w.Issue(s, wait, func(before, after []device.Value) error {
		s.m.Poke(before[0].Word, before[0].Value)
		go func() {
			for !wait.over(s.m.word(wait.Word)) {
				time.Sleep(time.Millisecond)
			}
			s.m.Poke(after[0].Word, after[0].Value)
			s.rest.Store(true)
		}()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition, of which what is a description.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for begun := time.Now(); !f(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("never: " + what)
		}
	}
}

// TestWatch: a wait is published after a while, and withdrawn when its word ends it; a deadline and an
// abort end it by the word, and give it as the fault.
func TestWatch(t *testing.T) {
	m := &memory{}
	page := new(device.Watch)
	var aborted atomic.Bool
	w := new(Watch)
	w.Open(Setting{Device: m, Page: page, Words: 4096, Aborted: aborted.Load})
	published := func() (n int) {
		for i := range page.Waits {
			if atomic.LoadUint32(&page.Waits[i].State) == device.WaitPending {
				n++
			}
		}
		return n
	}
	fault := func() uint32 { return atomic.LoadUint32(&page.Fault.State) }
	const word = device.Ptr(4096 + 2048)
	wait := func(i int) Wait {
		return Wait{Word: word + device.Ptr(8*i), Value: 1<<40 + 7, Record: device.WaitRecord{Kind: device.WaitWord, Ordinal: uint32(10 + i), Channel: 3}}
	}

	s := &stream{m: m}
	s.issue(t, w, wait(0))
	until(t, "the wait is published", func() bool { return published() == 1 })
	m.Poke(word+4, 1<<8)
	m.Poke(word, 7)
	until(t, "the wait is withdrawn", func() bool { return published() == 0 })
	if fault() != device.WaitNone {
		t.Errorf("a wait that ended by itself is a fault: %+v", page.Fault)
	}

	s = &stream{m: m}
	late := wait(1)
	late.Limit = 30 * time.Millisecond
	s.issue(t, w, late)
	until(t, "the deadline ends the wait", func() bool { return fault() == device.WaitTimeout && s.AtRest() })
	if r := &page.Fault; r.Ordinal != 11 || r.Channel != 3 || r.Want != 1<<40+7 || r.Seen != 0 || m.word(word+8) != 1<<40+7 {
		t.Errorf("the fault is %+v, and the word %d", r, m.word(word+8))
	}
	atomic.StoreUint32(&page.Fault.State, device.WaitNone)

	two := []*stream{{m: m}, {m: m}}
	for i, s := range two {
		s.issue(t, w, wait(2+i))
	}
	until(t, "both are published", func() bool { return published() == 2 })
	aborted.Store(true)
	until(t, "the abort ends both", func() bool { return two[0].AtRest() && two[1].AtRest() && published() == 0 })
	if fault() != device.WaitAborted {
		t.Errorf("the fault is %+v", page.Fault)
	}
	until(t, "the watch ends", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return !w.running
	})
	w.Forget()
}

// TestTooManyStreams: a stream too many is refused; one that has come to rest makes room.
func TestTooManyStreams(t *testing.T) {
	m := &memory{}
	w := new(Watch)
	w.Open(Setting{Device: m, Page: new(device.Watch), Words: 4096, Aborted: func() bool { return false }})
	nothing := func(before, after []device.Value) error { return nil }
	first := &stream{m: m}
	for i := range Streams {
		s := first
		if i > 0 {
			s = &stream{m: m}
		}
		if err := w.Issue(s, Wait{}, nothing); err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
	}
	if err := w.Issue(&stream{m: m}, Wait{}, nothing); err != errStreams {
		t.Errorf("a stream too many gives %v", err)
	}
	first.rest.Store(true)
	until(t, "there is room", func() bool { return w.Issue(&stream{m: m}, Wait{}, nothing) == nil })
	w.Forget()
}
