package bootstrap

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/shortdir"
)

// gathersLeft lets ranks make a call of the remaining ranks, in which each contributes its number,
// and returns the result of each rank.
func (w *world) gathersLeft(t *testing.T, ordinal uint64, ranks ...int) (said chan string) {
	said = make(chan string, len(ranks))
	ctx := bounded(t)
	for _, r := range ranks {
		go func() {
			group, all, err := w.clients[r].GatherLeft(ctx, Call{Key: "left", Ordinal: ordinal, Op: "Survivors"}, []byte{byte(r)})
			said <- fmt.Sprint(group, all, err)
		}()
	}
	return said
}

// soonPending waits until n ranks have come to the only open call.
func soonPending(t *testing.T, w *world, n int) {
	t.Helper()
	soon(t, func() bool { p := w.hub.Pending(); return len(p) == 1 && len(p[0].Arrived) == n })
}

func soon(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

func expectAlike(t *testing.T, said chan string, n int, want string) {
	t.Helper()
	for range n {
		if got := <-said; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A call of the remaining ranks includes all ranks while none is gone, goes on without ranks that
// go while it waits, and does not wait for ranks that went before.
func TestGatherLeft(t *testing.T) {
	w := newWorld(t, 4)
	expectAlike(t, w.gathersLeft(t, 0, 0, 1, 2, 3), 4, "[0 1 2 3] [[0] [1] [2] [3]] <nil>")

	waiting := w.gathersLeft(t, 1, 0, 1, 2)
	soonPending(t, w, 3)
	w.hub.Lose(3, "its host is silent")
	expectAlike(t, waiting, 3, "[0 1 2] [[0] [1] [2]] <nil>")

	waiting = w.gathersLeft(t, 2, 0, 1, 2)
	expectAlike(t, waiting, 3, "[0 1 2] [[0] [1] [2]] <nil>")
	if _, _, err := w.clients[3].GatherLeft(bounded(t), Call{Key: "left", Ordinal: 3, Op: "Survivors"}, nil); err == nil ||
		err.Error() != "Survivors: rank 3 is not among the remaining ranks: it was lost (its host is silent)" {
		t.Error(err)
	}

	// If a rank has come and then goes, its contribution is removed.
	waiting = w.gathersLeft(t, 4, 1, 2)
	soonPending(t, w, 2)
	w.hub.End(2, "cannot start")
	expectAlike(t, w.gathersLeft(t, 4, 0), 1, "[0 1] [[0] [1]] <nil>")
	for got, n := "", 0; n < 2; n++ {
		if got = <-waiting; got != "[0 1] [[0] [1]] <nil>" && got != "[] [] Survivors: rank 2 cannot start" {
			t.Error(got)
		}
	}
	w.hub.Enter([]int{0, 1, 2, 3}) // this brings no rank back
	var absent *AbsentError
	if _, err := w.clients[0].Gather(bounded(t), Call{Group: []int{0, 3}, Key: "pair", Op: "Meet"}, nil); !errors.As(err,
		&absent) || absent.Left != 2 || absent.Why != "was lost: its host is silent" {
		t.Error(err)
	}

	// If only the process of a rank has ended, a new process takes part again.
	w.join(t, 2, shortdir.New(t))
	soon(t, func() bool {
		w.hub.mu.Lock()
		defer w.hub.mu.Unlock()
		return slices.Equal(w.hub.remaining(), []int{0, 1, 2})
	})
	w.hub.Enter([]int{2})
	expectAlike(t, w.gathersLeft(t, 5, 0, 1, 2), 3, "[0 1 2] [[0] [1] [2]] <nil>")

	// If a rank's connection ends, it is not known whether the rank is gone: the others wait until
	// that is reported.
	waiting = w.gathersLeft(t, 7, 0)
	w.clients[2].Close()
	ended(t, w.served[2])
	late := w.gathersLeft(t, 7, 1)
	soonPending(t, w, 2)
	w.hub.Lose(2, "its supervisor is gone")
	expectAlike(t, waiting, 1, "[0 1] [[0] [1]] <nil>")
	expectAlike(t, late, 1, "[0 1] [[0] [1]] <nil>")

	// A rank that is absent for a while is not gone.
	w.hub.Leave(1, "finished the cell without it")
	if _, _, err := w.clients[0].GatherLeft(bounded(t), Call{Key: "left", Ordinal: 6, Op: "Survivors"}, nil); !errors.As(err,
		&absent) || absent.Left != 0 || absent.Rank != 1 {
		t.Error(err)
	}
}

// silent is a connection whose other end has fallen silent, where a write fails before a read does.
type silent struct{ net.Conn }

func (silent) Write([]byte) (int, error) { return 0, &heartbeat.SilenceError{Limit: time.Second} }

// A call that finds the loss of the session says the same as one that waits for an answer, and
// observers hear of it.
func TestWriteFindsSilence(t *testing.T) {
	ours, hub := net.Pipe()
	defer hub.Close()
	go hub.Read(make([]byte, 4096)) // the greeting
	c, err := NewClient(ours, 1, 2, "", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var heard []string
	c.OnLost(func(rank int, why string) { heard = append(heard, fmt.Sprint("lost ", rank, " ", why)) })
	c.OnLeft(func(rank int, why string) { heard = append(heard, fmt.Sprint("left ", rank, " ", why)) })
	c.out = frame.NewWriter(silent{ours})
	const want = "bootstrap: rank 1 lost the session: no heartbeat for 1s"
	for range 2 {
		if _, err := c.Gather(t.Context(), Call{Key: "k", Op: "Meet"}, nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if want := []string{"lost 0 no heartbeat for 1s", "left 0 died"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}
