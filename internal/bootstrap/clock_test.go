package bootstrap

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/timeline"
)

// slow delays what is written to a connection.
type slow struct {
	net.Conn
	by time.Duration
}

func (s slow) Write(b []byte) (int, error) {
	time.Sleep(s.by)
	return s.Conn.Write(b)
}

// Round trips to a hub whose clock is another, over a connection that delays one way or both, bound
// the difference of the clocks: the true one is within the stated uncertainty, which is not larger
// than half of a trip.
func TestClock(t *testing.T) {
	const ahead = int64(98765 * time.Second)
	for _, delays := range [][2]time.Duration{{0, 0}, {3 * time.Millisecond, 0}, {0, 3 * time.Millisecond}, {2 * time.Millisecond, 2 * time.Millisecond}} {
		h := NewHub(1)
		h.now = func() int64 { return timeline.Now() + ahead }
		a, b := pair(t)
		served := make(chan error, 1)
		go func() { served <- h.Serve(0, slow{a, delays[1]}) }()
		c, err := NewClient(slow{b, delays[0]}, 0, 1, "", Parts{})
		if err != nil {
			t.Fatal(err)
		}
		longest := int64(0)
		now := func() int64 { return timeline.Now() }
		bounds, err := timeline.Compare(8, now, func() (int64, error) {
			began := timeline.Now()
			at, err := c.Clock(bounded(t))
			longest = max(longest, timeline.Now()-began)
			return at, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if bounds.Low > ahead || bounds.High < ahead {
			t.Errorf("delays %v: the difference is %d, not between %d and %d", delays, ahead, bounds.Low, bounds.High)
		}
		if width := bounds.High - bounds.Low; width > longest+int64(time.Millisecond) || width < int64(delays[0]+delays[1]) {
			t.Errorf("delays %v: the bounds are %d ns apart, a trip took up to %d", delays, width, longest)
		}
		c.Close()
		ended(t, served)
		if _, err := c.Clock(bounded(t)); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// A question that nobody answers ends with its context.
func TestClockCancelled(t *testing.T) {
	_, b := pair(t)
	c, err := NewClient(b, 0, 1, "", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Clock(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
