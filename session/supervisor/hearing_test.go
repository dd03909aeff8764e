package supervisor

import (
	"io"
	"testing"

	"github.com/symmrepl/symmrepl/session/inherit"
)

// A worker's connection is quiet only when its messages were passed on: neither while bytes lie
// there unread, nor while the goroutine that has read them handles them.
func TestHearing(t *testing.T) {
	mine, theirs, err := inherit.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	over := make(chan struct{})
	h, err := newHearing(mine, over)
	if err != nil {
		t.Fatal(err)
	}
	is := func(want bool, when string) {
		t.Helper()
		if yes, _ := h.quiet(); yes != want {
			t.Errorf("%s: quiet is %v", when, yes)
		}
	}
	is(true, "at first")
	theirs.WriteString("harm")
	is(false, "unread")
	b := make([]byte, 8)
	if n, err := h.Read(b); err != nil || string(b[:n]) != "harm" {
		t.Fatalf("read %q, %v", b[:n], err)
	}
	is(false, "read and not passed on")

	passed := make(chan struct{})
	ended := make(chan error, 1)
	go func() { // Read comes back for more
		<-passed
		_, err := h.Read(b)
		ended <- err
	}()
	_, back := h.quiet()
	close(passed)
	receive(t, "the goroutine comes back", back)
	h.await()
	is(true, "passed on")
	theirs.Close()
	if err := receive(t, "the connection ends", ended); err != io.EOF {
		t.Error(err)
	}
	is(false, "at its end, which was not passed on")
	close(over)
	is(true, "when nobody reads any more")
}

// The wait for a worker's last words ends when its death is being reported.
func TestHearingOfTheDying(t *testing.T) {
	mine, theirs, err := inherit.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	defer theirs.Close()
	h, err := newHearing(mine, make(chan struct{}))
	if err != nil {
		t.Fatal(err)
	}
	theirs.WriteString("words")
	waited := make(chan struct{})
	go func() {
		h.await()
		close(waited)
	}()
	close(h.dying)
	receive(t, "the wait ends", waited)
}
