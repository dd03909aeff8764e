package hosts

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

const (
	gatherFor  = 500 * time.Microsecond // time that a rank's message waits for equal messages of the host's other ranks
	gatherMost = 1 << 20                // bytes waiting to be sent, above which ranks are held back
	outputMost = fold.MaxAhead          // maximum bytes of one rank's output that the controller has not taken
	outputTold = outputMost / 4         // the same, above which the controller is asked to acknowledge
)

// Leader is the host's end of the link to the controller: it passes commands to the supervisors of the
// host's ranks, and their events to the controller, once for all ranks that report the same event
// within a moment. The events of one rank keep their order.
type Leader struct {
	link *rendezvous.Link // set by Serve
	some chan struct{}    // signals that there are events to send
	full chan struct{}    // signals that it is not worth waiting for more
	done chan struct{}    // closed when the link has ended

	mu      sync.Mutex
	keepers map[int]supervisor.Keeper // of the ranks
	changed *sync.Cond                // signals that events were sent or taken, or that the link has ended
	waiting []*hostEvent              // in the order in which the first rank reported them
	last    map[int]int               // by rank: the last in waiting that it reported
	settled int                       // number of ranks whose last event is not output
	size    int                       // bytes in waiting
	numbers uint64                    // the last number given to output
	sent    map[int]int               // bytes of output by rank that the controller has not acknowledged
	asked   map[uint64]output         // output that the controller has to acknowledge, by number
	told    map[int]bool              // ranks with such output
	ended   bool
}

// hostEvent is an event that ranks of a host report.
type hostEvent struct {
	ranks   []int
	event   wire.Event
	payload []byte
}

// output is the amount of output of ranks that a number stands for.
type output struct {
	ranks []int
	bytes []int // indexed like ranks
}

// NewLeader returns the leader of a host without ranks.
func NewLeader() *Leader {
	h := &Leader{
		keepers: map[int]supervisor.Keeper{}, some: make(chan struct{}, 1), full: make(chan struct{}, 1), done: make(chan struct{}),
		last: map[int]int{}, sent: map[int]int{}, asked: map[uint64]output{}, told: map[int]bool{},
	}
	h.changed = sync.NewCond(&h.mu)
	return h
}

// Add makes k the supervisor of a rank. k reports its events to Emit.
func (h *Leader) Add(rank int, k supervisor.Keeper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keepers[rank] = k
}

// remove forgets the supervisor of a rank, which is gone.
func (h *Leader) remove(rank int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.keepers, rank)
}

// Serve begins to send the events of ranks on link. The caller calls end when no commands come any
// more.
func (h *Leader) Serve(link *rendezvous.Link) (end func()) {
	h.link = link
	var sending sync.WaitGroup
	sending.Go(h.send)
	return func() {
		h.mu.Lock()
		h.ended = true
		h.changed.Broadcast()
		h.mu.Unlock()
		close(h.done)
		sending.Wait()
	}
}

// admit admits the process of another rank of the host.
func (h *Leader) admit(link *rendezvous.Link) (serve func(), refused string) {
	rank := link.Hello.Rank
	h.mu.Lock()
	known := h.keepers[rank] != nil
	h.mu.Unlock()
	switch {
	case link.Hello.Incarnation != 0:
		return nil, "workers are to reach rank 0 themselves"
	case known:
		return nil, fmt.Sprintf("rank %d has joined already", rank)
	}
	return func() {
		k := NewRemote(link)
		h.Add(rank, k)
		h.Emit(rank, wire.Event{Joins: true}, nil)
		err := k.Listen(func(e wire.Event, payload []byte) { h.Emit(rank, e, payload) })
		h.Emit(rank, wire.Event{Gone: GoneBecause(err)}, nil)
		h.remove(rank)
	}, ""
}

// Do carries out a command of the controller.
func (h *Leader) Do(c wire.Command, payload []byte) {
	if c.Taken != 0 {
		h.taken(c.Taken)
		return
	}
	ranks := c.Ranks
	c.Ranks = nil
	h.mu.Lock()
	if c.Missing != nil { // the other processes have no link to rank 0
		ranks = nil
		for r, k := range h.keepers {
			if _, other := k.(*Remote); other {
				ranks = append(ranks, r)
			}
		}
	}
	var keepers []supervisor.Keeper
	for _, r := range ranks {
		if k := h.keepers[r]; k != nil {
			keepers = append(keepers, k)
		}
	}
	h.mu.Unlock()
	for _, k := range keepers {
		k.Do(c, payload)
	}
	if c.Refused != "" {
		for _, r := range ranks {
			h.remove(r)
		}
	}
}

// close ends the workers of all ranks of the host, and the processes of the other ranks.
func (h *Leader) close() {
	h.mu.Lock()
	var closing sync.WaitGroup
	for _, k := range h.keepers {
		closing.Go(k.Close)
	}
	h.mu.Unlock()
	closing.Wait()
}

// Emit takes an event of a rank. If the controller does not take the rank's output, Emit blocks. It
// does not keep payload.
func (h *Leader) Emit(rank int, e wire.Event, payload []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.ended && (h.size > gatherMost || e.Output != 0 && h.sent[rank] >= outputMost) {
		h.changed.Wait()
	}
	if h.ended || h.keepers[rank] == nil {
		return
	}
	at := 0
	if last, any := h.last[rank]; any {
		at = last + 1
		h.settled -= h.waiting[last].settles()
	}
	for at < len(h.waiting) && !h.waiting[at].same(&e, payload) {
		at++
	}
	if at == len(h.waiting) {
		h.waiting = append(h.waiting, &hostEvent{event: e, payload: bytes.Clone(payload)})
		h.size += len(payload)
	}
	h.waiting[at].ranks = append(h.waiting[at].ranks, rank)
	h.last[rank] = at
	h.settled += h.waiting[at].settles()
	if e.Output != 0 {
		h.sent[rank] += len(payload)
	}
	poke(h.some)
	if h.settled == len(h.keepers) || h.size > gatherMost {
		poke(h.full)
	}
}

// settles returns 1 for an event after which a rank reports nothing for a while. It is 0 for
// output, which more output follows.
func (h *hostEvent) settles() int {
	if h.event.Output != 0 {
		return 0
	}
	return 1
}

// poke makes the next receive from ch succeed. ch has room for one value.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// same reports whether e with payload equals the event.
func (h *hostEvent) same(e *wire.Event, payload []byte) bool {
	o := &h.event
	switch {
	case e.Output != o.Output || e.Begins != o.Begins || e.Incarnation != o.Incarnation || !bytes.Equal(payload, h.payload):
		return false
	case e.Output != 0:
		return true
	case e.Done != nil && o.Done != nil && e.Done.Err == nil && o.Done.Err == nil && e.Done.Tallies == nil && o.Done.Tallies == nil:
		return e.Done.Run == o.Done.Run && e.Done.HasValue == o.Done.HasValue && e.Done.Rich == o.Done.Rich && e.Done.Late == o.Done.Late
	}
	return reflect.DeepEqual(e, o)
}

// send sends the gathered events, until the link ends.
func (h *Leader) send() {
	moment := time.NewTimer(gatherFor)
	var buf []byte
	for {
		select {
		case <-h.some:
		case <-h.done:
			return
		}
		moment.Reset(gatherFor)
		select {
		case <-h.full:
		case <-moment.C:
		case <-h.done:
			return
		}
		h.mu.Lock()
		list := h.waiting
		h.waiting, h.size, h.settled = nil, 0, 0
		clear(h.last)
		for _, e := range list {
			slices.Sort(e.ranks)
		}
		list = joinBegins(list)
		for _, e := range slices.Backward(list) { // the last output of a rank gets the number
			h.number(e)
		}
		h.changed.Broadcast()
		h.mu.Unlock()
		buf = buf[:0]
		for _, e := range list {
			e.event.Ranks = e.ranks
			buf, _ = frame.Append(buf, e.event, e.payload) // an event is always encoded
		}
		if _, err := h.link.Write(buf); err != nil {
			h.link.Close() // the reader of commands notices
		}
		if cap(buf) > gatherMost {
			buf = nil
		}
	}
}

// joinBegins merges the event that a run begins into the output that follows it, if that has the
// same ranks.
func joinBegins(list []*hostEvent) []*hostEvent {
	joined := list[:0]
	for i, h := range list {
		if h.event.Begins != 0 && len(h.payload) == 0 {
			if next := h.next(list[i+1:]); next != nil && next.event.Begins == 0 && slices.Equal(next.ranks, h.ranks) {
				next.event.Begins = h.event.Begins
				continue
			}
		}
		joined = append(joined, h)
	}
	return joined
}

// next returns the first event in list, the later events, with the same stream and worker and with
// one of the ranks; nil if there is none.
func (h *hostEvent) next(list []*hostEvent) *hostEvent {
	for _, o := range list {
		if o.event.Output == h.event.Output && o.event.Incarnation == h.event.Incarnation && len(rankset.Intersection(o.ranks, h.ranks)) > 0 {
			return o
		}
	}
	return nil
}

// number gives an output a number, which the controller acknowledges when it has taken the output,
// if one of its ranks needs that. h.mu is held.
func (h *Leader) number(e *hostEvent) {
	if len(e.payload) == 0 || e.event.Output == 0 ||
		!slices.ContainsFunc(e.ranks, func(r int) bool { return h.sent[r] >= outputTold && !h.told[r] }) {
		return
	}
	h.numbers++
	e.event.Number = h.numbers
	o := output{ranks: e.ranks}
	for _, r := range e.ranks {
		bytes := 0
		if !h.told[r] {
			bytes = h.sent[r]
		}
		o.bytes = append(o.bytes, bytes)
		h.told[r] = true
	}
	h.asked[h.numbers] = o
}

// taken handles an acknowledgement of the controller: ranks that waited for it go on.
func (h *Leader) taken(number uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.asked[number]
	delete(h.asked, number)
	for i, r := range o.ranks {
		if o.bytes[i] > 0 {
			h.sent[r] -= o.bytes[i]
			delete(h.told, r)
		}
	}
	h.changed.Broadcast()
}
