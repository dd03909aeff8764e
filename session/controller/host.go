package controller

import (
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/session/hosts"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

// hostKeeper keeps the ranks of a host that share one link to the controller, the link of the
// process that leads the host (hosts.Leader). The controller sends a command for several of them once,
// and events that they report alike come once. A process through which no other joins leads only
// its own rank.
type hostKeeper struct {
	*hosts.Remote
	ranks []int // ascending; belongs to the goroutine that listens
	named []int // scratch of controller.tell; controller.mu guards it
}

func newHostKeeper(link *rendezvous.Link, ranks []int) *hostKeeper {
	return &hostKeeper{Remote: hosts.NewRemote(link), ranks: ranks}
}

// close gives the host's leader time to end the other ranks first.
func (k *hostKeeper) Close() { k.Quit(supervisor.QuitGrace + 2*time.Second) }

// listen passes on the events of the ranks until the link ends, and then reports that the ranks are
// gone.
func (k *hostKeeper) listen(c *controller) {
	defer close(k.Gone)
	for {
		var e wire.Event
		payload, err := k.Link.In.Read(&e)
		if err != nil {
			c.event(k.ranks, wire.Event{Gone: c.whyGone(k.ranks[0], err)}, nil)
			k.Link.Close()
			return
		}
		if e.Joins {
			c.joinThrough(k, e.Ranks)
			continue
		}
		ranks := rankset.Filter(e.Ranks, func(rank int) bool { return rankset.Contains(k.ranks, rank) }) // a host cannot report for other hosts' ranks
		if len(ranks) == 0 {
			continue
		}
		if e.Output == 0 {
			c.event(ranks, e, payload)
			continue
		}
		if e.Begins != 0 {
			c.begins(ranks, e)
		}
		if len(payload) == 0 {
			continue
		}
		// Events of the host's other ranks must not wait until these ranks are no longer ahead.
		waits := c.takeOutput(ranks, e, payload)
		switch {
		case e.Number == 0:
		case len(waits) == 0:
			k.Do(wire.Command{Taken: e.Number}, nil)
		default:
			go func() {
				for _, wait := range waits {
					wait()
				}
				k.Do(wire.Command{Taken: e.Number}, nil)
			}()
		}
	}
}
