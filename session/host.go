package session

import (
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
)

// hostKeeper keeps the ranks of a host that have one link with the controller: that of the process which leads the host (leader.go). A command for
// several of them is sent once, and what they report alike comes once. A process that nobody joins through leads its own rank.
type hostKeeper struct {
	remoteKeeper
	ranks []int // ascending; belongs to the goroutine that listens
	named []int // scratch of controller.tell; controller.mu guards it
}

func newHostKeeper(link *rendezvous.Link, ranks []int) *hostKeeper {
	return &hostKeeper{remoteKeeper: remoteKeeper{link, make(chan struct{})}, ranks: ranks}
}

// close gives the leader of the host the time to end the others first.
func (k *hostKeeper) close() { k.quit(quitGrace + 2*time.Second) }

// listen passes on the events of the ranks until the link ends, and then that they are gone.
func (k *hostKeeper) listen(c *controller) {
	defer close(k.gone)
	for {
		var e event
		payload, err := k.link.In.Read(&e)
		if err != nil {
			c.event(k.ranks, event{Gone: c.whyGone(k.ranks[0], err)}, nil)
			k.link.Close()
			return
		}
		if e.Joins {
			c.joinThrough(k, e.Ranks)
			continue
		}
		ranks := filtered(e.Ranks, func(rank int) bool { return contains(k.ranks, rank) }) // it cannot speak for others
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
		// What other ranks of the host say must not wait until these are not ahead any more.
		waits := c.takeOutput(ranks, e, payload)
		switch {
		case e.Number == 0:
		case len(waits) == 0:
			k.do(command{Taken: e.Number}, nil)
		default:
			go func() {
				for _, wait := range waits {
					wait()
				}
				k.do(command{Taken: e.Number}, nil)
			}()
		}
	}
}
