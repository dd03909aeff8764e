package seam

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Part is state that a world keeps beside its calls, with an owner of its own: a library, the
// network, the memory of groups. A world calls its parts in order, and in reverse order where
// something ends. G is a group of the world, M its symmetric memory. A part that an event does not
// concern embeds [Idle].
type Part[G, M any] interface {
	// Leave lets the other ranks finish their work with this rank, which closes the world in peace.
	// It waits for a bounded time.
	Leave()
	// GiveUp ends the waits of this rank, now and until Settle. It returns at once, and any
	// goroutine may call it.
	GiveUp()
	// Waits lists the waits that the page of the device does not show.
	Waits() []Wait
	// Moves adds the state of the part to a rank's progress. It waits for nothing.
	Moves(*Progress)
	// Drained ends the watches over the streams of this rank, whose work is over, before the page
	// of the device is cleared.
	Drained()
	// Settle begins a new period: the streams of all ranks have no work, and the waits before it
	// were given up.
	Settle(Loss) error
	// Clear issues the work that sets the signals of this rank to zero. The world is locked.
	Clear(device.Stream) error
	// DropGroup frees the part's resources for a group that ends. The world is locked.
	DropGroup(G)
	// DropMemory frees the part's resources for symmetric memory that is freed, and whose work is
	// over on all ranks. After an error the memory stays.
	DropMemory(op string, memory M) error
	// Close gives everything back. This rank's streams have no work, and no other call comes.
	Close() error
}

// Idle is a part that no event concerns.
type Idle[G, M any] struct{}

func (Idle[G, M]) Leave()                     {}
func (Idle[G, M]) GiveUp()                    {}
func (Idle[G, M]) Waits() []Wait              { return nil }
func (Idle[G, M]) Moves(*Progress)            {}
func (Idle[G, M]) Drained()                   {}
func (Idle[G, M]) Settle(Loss) error          { return nil }
func (Idle[G, M]) Clear(device.Stream) error  { return nil }
func (Idle[G, M]) DropGroup(G)                {}
func (Idle[G, M]) DropMemory(string, M) error { return nil }
func (Idle[G, M]) Close() error               { return nil }

// Loss lists the ranks whose processes were replaced since the last period, and those that are gone.
type Loss struct{ Replaced, Gone []int }

// Of returns the reason for which something that needs these ranks is lost, and the first rank that
// it lacks; "" and -1 if it lacks none.
func (l Loss) Of(ranks []int) (why string, rank int) {
	if r := firstOf(ranks, l.Gone); r >= 0 {
		return fmt.Sprintf("rank %d is gone", r), r
	}
	if r := firstOf(ranks, l.Replaced); r >= 0 {
		return fmt.Sprintf("rank %d was replaced", r), r
	}
	return "", -1
}

// firstOf returns the first of ranks that is in set, or -1.
func firstOf(ranks, set []int) int {
	if i := slices.IndexFunc(ranks, func(r int) bool { return slices.Contains(set, r) }); i >= 0 {
		return ranks[i]
	}
	return -1
}
