package controller

import (
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// The number that a snapshot has for a question of the watchdog is no other question's.
func TestSnapshotHasOwnQuestion(t *testing.T) {
	c := newController(session.Config{}, 1, nil)
	defer c.spawner.Close()
	r := &run{c: c, ranks: []int{0}, on: make([]rankRun, 1)}
	for range 3 {
		before := c.questions
		if got := r.snapshot(time.Now()).Question; got == before || c.questions != got {
			t.Errorf("question %d after %d, and the next is numbered after %d", got, before, c.questions)
		}
	}
}
