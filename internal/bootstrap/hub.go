package bootstrap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/timeline"
)

// Hub gathers the calls of the ranks of one world. Its methods may be called from any goroutine.
type Hub struct {
	size int
	now  func() int64 // its clock, in nanoseconds

	mu         sync.Mutex // guards the fields below
	calls      map[callID]*pending
	absent     map[int]absence // ranks that will make no call
	departures int             // number of departures so far
	links      map[int]*link   // the newest connection of each rank
	lost       map[int]string  // ranks that are gone for good, and why
	ended      map[int]bool    // ranks that are gone until a new connection of the rank is served
	tells      bool            // the hub reports ranks whose connection ends: see TellDepartures
}

// Pending is a call that some ranks have made and others have not.
type Pending struct {
	Call    Call // as described by the first rank that made it
	Arrived []int
	Missing []int
	Since   time.Time // time at which the first rank came
}

type absence struct {
	why    string
	unsaid bool // the rank's connection has ended, and it is not known yet whether another process takes its place
	order  int  // order of leaving: the first to leave is the likely reason for the others
}

type callID struct {
	key     string
	ordinal uint64
}

type pending struct {
	call  Call
	group string // group of the call, as received
	left  bool   // a call of all remaining ranks: members that are gone leave the group
	since time.Time
	came  map[int]contribution
}

type contribution struct {
	link *link
	id   uint64
	call Call
	data []byte
}

// link is a served connection.
type link struct {
	rank int
	out  *frame.Writer
}

// send answers a request without waiting, because the rank may not read. Replies carry the ID of
// their request, so their order does not matter. There are never more replies than open requests of
// the rank.
func (l *link) send(r reply, payload []byte) {
	go l.out.Write(r, payload) // the reading end of the connection sees a failure
}

// NewHub returns a hub for ranks 0 to size-1, all of which take part.
func NewHub(size int) *Hub {
	return &Hub{size: size, now: timeline.Now, calls: map[callID]*pending{}, absent: map[int]absence{}, links: map[int]*link{},
		lost:  map[int]string{},
		ended: map[int]bool{}}
}

// Serve serves a rank's client until the connection ends, and returns why; the error is io.EOF if
// the other end closed it. The rank is then absent with the reason that it died, unless Leave has
// given another reason or another connection of the rank is served. If the rank was silent for too
// long, it is lost.
func (h *Hub) Serve(rank int, conn net.Conn) error {
	if rank < 0 || rank >= h.size {
		return fmt.Errorf("bootstrap: rank %d in a world of %d", rank, h.size)
	}
	l := &link{rank: rank, out: frame.NewWriter(conn)}
	in := frame.NewReader(conn, MaxData)
	var first request
	if _, err := in.Read(&first); err != nil {
		return err
	}
	if want := (hello{Version, rank, h.size}); first.Hello == nil || *first.Hello != want {
		err := fmt.Errorf("bootstrap: rank %d of %d, protocol %d was expected, not %+v: is another build of symmrepl running?",
			rank, h.size, Version, first.Hello)
		l.out.Write(reply{Refused: err.Error()}, nil)
		return err
	}
	h.mu.Lock()
	if h.links[rank] != nil {
		h.failCalls(rank, "was replaced")
	}
	h.links[rank] = l
	delete(h.ended, rank)
	for gone, why := range h.lost {
		l.send(reply{Lost: &loss{gone, why}}, nil)
	}
	for gone, a := range h.absent {
		if h.tells {
			l.send(reply{Left: &loss{gone, a.why}}, nil)
		}
	}
	h.mu.Unlock()
	defer h.disconnected(l)
	for {
		var r request
		data, err := in.Read(&r)
		if silence := new(heartbeat.SilenceError); errors.As(err, &silence) {
			h.Lose(rank, silence.Error())
		}
		if err != nil {
			return err
		}
		switch {
		case r.Gather != nil:
			h.gather(l, r.Gather, false, data)
		case r.Left != nil:
			h.gather(l, r.Left, true, data)
		case r.Clock != 0:
			l.send(reply{ID: r.Clock, Clock: h.now()}, nil)
		case r.Withdraw != 0:
			h.withdraw(l, r.Withdraw)
		default:
			return fmt.Errorf("bootstrap: a request of rank %d is empty", rank)
		}
	}
}

// Enter makes ranks take part from now on, except ranks that are gone.
func (h *Hub) Enter(ranks []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range ranks {
		if !h.gone(r) {
			delete(h.absent, r)
		}
	}
}

// Leave makes rank absent until it enters again. Open and later calls that need it fail with
// AbsentError for the others.
func (h *Hub) Leave(rank int, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave(rank, why)
}

// Lose makes rank absent for good, and informs the others: see [Client.OnLost].
func (h *Hub) Lose(rank int, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, again := h.lost[rank]; again {
		return
	}
	h.lost[rank] = why
	for r, l := range h.links {
		if r != rank {
			l.send(reply{Lost: &loss{rank, why}}, nil)
		}
	}
	h.leave(rank, "")
}

// gone reports whether a rank is gone and no process is known to take its place. h.mu is held.
func (h *Hub) gone(rank int) bool {
	_, lost := h.lost[rank]
	return lost || h.ended[rank]
}

// remaining lists the ranks that are not gone. h.mu is held.
func (h *Hub) remaining() (ranks []int) {
	for r := range h.size {
		if !h.gone(r) {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// leaves returns the number of remaining ranks if rank is gone, and 0 if it is not. h.mu is held.
func (h *Hub) leaves(rank int) int {
	if !h.gone(rank) {
		return 0
	}
	return len(h.remaining())
}

// End makes rank absent and gone, until a new connection of the rank is served. Calls of the
// remaining ranks go on without it.
func (h *Hub) End(rank int, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended[rank] = true
	h.leave(rank, why)
}

// TellDepartures makes the hub inform all ranks of each rank whose connection ends from now on: see
// [Client.OnLeft]. If no session looks after the ranks, they learn in this way that they wait for a
// rank in vain. No process takes the place of such a rank: it is gone.
func (h *Hub) TellDepartures() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tells = true
}

// leave is Leave with h.mu held. If the rank is lost, the reason of the loss takes precedence over
// why.
func (h *Hub) leave(rank int, why string) {
	if lost, ok := h.lost[rank]; ok {
		why = "was lost: " + lost
	}
	a, again := h.absent[rank]
	if !again {
		h.departures++
		a.order = h.departures
	}
	a.why, a.unsaid = why, false
	h.absent[rank] = a
	h.failCalls(rank, why)
}

// Pending lists the open calls, oldest first.
func (h *Hub) Pending() []Pending {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]Pending, 0, len(h.calls))
	for _, p := range h.calls {
		item := Pending{Call: p.call, Since: p.since}
		for _, r := range p.call.Group {
			if _, ok := p.came[r]; ok {
				item.Arrived = append(item.Arrived, r)
			} else {
				item.Missing = append(item.Missing, r)
			}
		}
		list = append(list, item)
	}
	slices.SortFunc(list, func(a, b Pending) int { return a.Since.Compare(b.Since) })
	return list
}

// disconnected makes the rank of l absent, if l is its newest connection.
func (h *Hub) disconnected(l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.links[l.rank] != l {
		return
	}
	delete(h.links, l.rank)
	a, known := h.absent[l.rank]
	if !known {
		h.departures++
		a = absence{"died", !h.tells, h.departures}
		h.absent[l.rank] = a
	}
	why := a.why
	if h.tells {
		h.ended[l.rank] = true
	}
	h.failCalls(l.rank, why)
	for _, other := range h.links {
		if h.tells {
			other.send(reply{Left: &loss{l.rank, why}}, nil)
		}
	}
}

// failCalls answers every open call that needs rank with an AbsentError. If the rank is gone, calls
// of the remaining ranks do not need it, and may now be complete. h.mu is held.
func (h *Hub) failCalls(rank int, why string) {
	gone := h.gone(rank)
	for id, p := range h.calls {
		at, member := slices.BinarySearch(p.call.Group, rank)
		switch {
		case !member, p.left && !gone && h.absent[rank].unsaid:
		case p.left && gone:
			p.call.Group = slices.Delete(slices.Clone(p.call.Group), at, at+1)
			if mine, came := p.came[rank]; came {
				mine.link.send(reply{ID: mine.id, Absent: &AbsentError{Rank: rank, Why: why, Left: h.leaves(rank)}}, nil)
				delete(p.came, rank)
			}
			if len(p.came) == 0 {
				delete(h.calls, id)
			} else {
				h.completeIfAll(id, p)
			}
		default:
			delete(h.calls, id)
			p.answer(reply{Absent: &AbsentError{Rank: rank, Why: why, Left: h.leaves(rank)}}, nil)
		}
	}
}

// gather takes a contribution to a call. If left is set, it is a call of the remaining ranks.
func (h *Hub) gather(l *link, g *gather, left bool, data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := callID{g.Call.Key, g.Call.Ordinal}
	p := h.calls[id]
	if p != nil && p.group == g.Group { // p's group was parsed already
		g.Call.Group = p.call.Group
	}
	if why := h.refuse(l, g, left); why != "" {
		l.send(reply{ID: g.ID, Refused: why}, nil)
		return
	}
	if e := h.firstAbsent(g.Call.Group, left); e != nil {
		l.send(reply{ID: g.ID, Absent: e}, nil)
		return
	}
	if p == nil {
		p = &pending{call: g.Call, group: g.Group, left: left, since: time.Now(), came: map[int]contribution{}}
		h.calls[id] = p
	}
	if _, ok := p.came[l.rank]; ok {
		l.send(reply{ID: g.ID, Refused: fmt.Sprintf("rank %d makes call %d of %s twice at once", l.rank, g.Call.Ordinal, g.Call.Key)}, nil)
		return
	}
	if p.group != g.Group && !slices.Equal(p.call.Group, g.Call.Group) {
		l.send(reply{ID: g.ID, Refused: fmt.Sprintf("rank %d names the group %v, others %v", l.rank, g.Call.Group, p.call.Group)}, nil)
		return
	}
	p.came[l.rank] = contribution{l, g.ID, g.Call, data}
	h.completeIfAll(id, p)
}

// completeIfAll answers a call if all members have made it. h.mu is held.
func (h *Hub) completeIfAll(id callID, p *pending) {
	if len(p.came) == len(p.call.Group) {
		delete(h.calls, id)
		p.complete()
	}
}

// firstAbsent returns an error that names the member of group that left first, or nil. With left, a
// member that may turn out to be gone does not count. h.mu is held.
func (h *Hub) firstAbsent(group []int, left bool) *AbsentError {
	var first *AbsentError
	order := 0
	for r, a := range h.absent { // usually there are none
		if left && a.unsaid {
			continue
		}
		if _, member := slices.BinarySearch(group, r); member && (first == nil || a.order < order) {
			first, order = &AbsentError{Rank: r, Why: a.why, Left: h.leaves(r)}, a.order
		}
	}
	return first
}

// refuse returns the fault of a request that does not depend on other requests, "" if there is
// none. It parses the group, unless it is known.
func (h *Hub) refuse(l *link, g *gather, left bool) string {
	if left && h.gone(l.rank) {
		return fmt.Sprintf("rank %d is not among the remaining ranks: it was lost (%s)", l.rank, h.lost[l.rank])
	}
	if left && g.Call.Group == nil {
		g.Call.Group = h.remaining()
	}
	if g.Call.Group == nil {
		group, err := parseRanks(g.Group, h.size)
		if err != nil {
			return err.Error()
		}
		for i, r := range group {
			if i > 0 && r <= group[i-1] {
				return fmt.Sprintf("%v is not an ascending list of ranks below %d", group, h.size)
			}
		}
		g.Call.Group = group
	}
	if _, member := slices.BinarySearch(g.Call.Group, l.rank); !member {
		return fmt.Sprintf("rank %d is not in its own group %v", l.rank, g.Call.Group)
	}
	return ""
}

func (h *Hub) withdraw(l *link, id uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, p := range h.calls {
		if c, ok := p.came[l.rank]; ok && c.link == l && c.id == id {
			delete(p.came, l.rank)
			if len(p.came) == 0 {
				delete(h.calls, key)
			}
			return
		}
	}
}

// complete answers a call that all members have made.
func (p *pending) complete() {
	first := p.came[p.call.Group[0]].data
	agree, alike, group := true, true, ""
	if p.left {
		group = FormatRanks(p.call.Group)
	}
	for _, c := range p.came {
		agree = agree && c.call.Op == p.call.Op && c.call.Desc == p.call.Desc
		alike = alike && bytes.Equal(c.data, first)
	}
	switch {
	case !agree:
		var calls []string
		for _, r := range p.call.Group {
			calls = append(calls, p.came[r].call.String())
		}
		p.answer(reply{Mismatch: &MismatchError{Calls: calls}}, nil)
	case alike:
		p.answer(reply{Members: len(p.call.Group), Alike: true, Group: group}, first)
	default:
		var all []byte
		for _, r := range p.call.Group {
			all = binary.AppendUvarint(all, uint64(len(p.came[r].data)))
		}
		for _, r := range p.call.Group {
			all = append(all, p.came[r].data...)
		}
		p.answer(reply{Members: len(p.call.Group), Group: group}, all)
	}
}

func (p *pending) answer(r reply, payload []byte) {
	for _, c := range p.came {
		r.ID = c.id
		c.link.send(r, payload)
	}
}
