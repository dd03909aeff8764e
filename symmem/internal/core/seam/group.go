package seam

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
)

// Members is a group of ranks, as a part of the world that has a package of its own knows it.
type Members interface {
	String() string // in messages: "world", "group 0,2"
	Rank() int      // this rank's number in the group
	Ranks() []int   // the members as world ranks
	Channels() int
	Split() *places.Split // the members by host

	// The lock keeps meetings of other goroutines away. Whoever calls Gather holds it.
	sync.Locker
	// Gather lets the members meet on the host, for desc, and returns the data of all of them. If a
	// member has an error, failed, all members get one.
	Gather(op, desc string, mine []byte, failed error) ([][]byte, error)
	// Absent reports whether an error means that a member does not come, or has lost what it needs.
	Absent(error) bool
	// Part waits until all members have called it for the same end, and no longer than ctx.
	Part(ctx context.Context, end string) error
	// Waiting lists a call on the host that waits for the members, until done is called.
	Waiting(op string) (done func())
	// Context ends when this rank gives its waits up.
	Context() context.Context
}

// Gather is [Members.Gather] for values.
func Gather[T any](g Members, op, desc string, mine T, failed error) ([]T, error) {
	data, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := g.Gather(op, desc, data, failed)
	if err != nil {
		return nil, err
	}
	values := make([]T, len(all))
	for i := range all {
		if err := json.Unmarshal(all[i], &values[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}
