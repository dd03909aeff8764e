package fold

import (
	"bytes"
	mathbits "math/bits"
	"slices"
	"time"
)

// strand holds the output on one stream, not shown yet, of ranks that have printed the same. It is
// kept once for any number of ranks: when only some of them print more, the strand is split, and
// strands that have become equal are joined again.
type strand struct {
	lineQueue
	members bits // positions of the ranks in the fold
	first   int  // the lowest member
	at      int  // index in strands.list
	taken   bits // scratch of strands.exactly
	count   int  // number of members
	takes   int  // number of bits in taken
}

// bits is a set of small numbers.
type bits []uint64

func (b bits) add(i int) { b[i/64] |= 1 << (i % 64) }

// each yields the members, ascending.
func (b bits) each(yield func(int) bool) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(w*64 + mathbits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// lowest returns the lowest member. The set must not be empty.
func (b bits) lowest() int {
	for i := range b.each {
		return i
	}
	return -1
}

// strands are the strands of one stream. Each rank is in exactly one strand.
type strands struct {
	list   []*strand
	of     []*strand // by position of the rank
	ending []int     // positions of ranks that have ended; the strands are updated only when a rank prints: see endNow

	// The result of the last fold.advance that showed nothing: advance need not look again until
	// the line is due, or one of these values changes.
	blocker  *strand   // the next line waits for it; nil if that is not known
	position int       // position of that line
	since    time.Time // time at which that line came
}

// newStrands returns the strands of the given number of ranks, which have printed nothing.
func newStrands(ranks int) strands {
	s := strands{of: make([]*strand, ranks)}
	if ranks == 0 {
		return s
	}
	all := &strand{members: make(bits, (ranks+63)/64), taken: make(bits, (ranks+63)/64), count: ranks}
	for i := range s.of {
		s.of[i] = all
		all.members.add(i)
	}
	s.list = []*strand{all}
	return s
}

// silent reports whether no rank holds anything.
func (s *strands) silent() bool {
	return !slices.ContainsFunc(s.list, func(q *strand) bool { return len(q.bytes()) > 0 })
}

// came returns when the first of the lines came that are held; zero if none is.
func (s *strands) came() time.Time {
	var at time.Time
	position := 0
	for _, q := range s.list {
		if q.whole == 0 || !at.IsZero() && q.next > position {
			continue
		}
		if since := q.since(); at.IsZero() || q.next < position || since.Before(at) {
			at = since
		}
		position = q.next
	}
	return at
}

// earliestOf returns when the first held line of any of the strands came.
func earliestOf(list []*strand) time.Time {
	at := list[0].since()
	for _, q := range list[1:] {
		if since := q.since(); since.Before(at) {
			at = since
		}
	}
	return at
}

// endNow ends the strands of the ranks that are ending.
func (s *strands) endNow() {
	if len(s.ending) == 0 {
		return
	}
	for _, q := range s.exactly(s.ending) {
		q.end()
		s.join(q)
	}
	s.ending = s.ending[:0]
}

// blocked reports whether the next line still waits.
func (s *strands) blocked(now time.Time) bool {
	q := s.blocker
	return q != nil && q.at < len(s.list) && s.list[q.at] == q && q.whole == 0 && !q.done && now.Sub(s.since) < Age
}

// exactly returns strands that hold the ranks at positions, and no others. It splits strands that
// also hold other ranks.
func (s *strands) exactly(positions []int) []*strand {
	var parts []*strand
	for _, i := range positions {
		q := s.of[i]
		if q.takes == 0 {
			parts = append(parts, q)
		}
		q.taken.add(i)
		q.takes++
	}
	for n, q := range parts {
		if q.takes < q.count {
			parts[n] = s.split(q)
		}
		q.takes = 0
		clear(q.taken)
	}
	return parts
}

// split moves the taken members of q to a new strand and returns it. Writers that wait for room in
// q keep waiting there.
func (s *strands) split(q *strand) *strand {
	part := &strand{lineQueue: q.lineQueue.clone(), members: slices.Clone(q.taken), count: q.takes, at: len(s.list),
		taken: make(bits, len(q.taken))}
	for i := range part.members.each {
		s.of[i] = part
	}
	for w := range q.members {
		q.members[w] &^= part.members[w]
	}
	q.count -= part.count
	q.first, part.first = q.members.lowest(), part.members.lowest()
	s.list = append(s.list, part)
	return part
}

// joinLooks is the number of strands, from both ends of the list, that join compares.
const joinLooks = 16

// join moves the members of q to another strand that equals q, if it finds one. It compares only a
// few strands: joining saves work, and nothing else depends on it.
func (s *strands) join(q *strand) {
	var p *strand
	for i := 0; i < len(s.list) && p == nil; i++ {
		if i == joinLooks {
			i = max(i, len(s.list)-joinLooks)
		}
		if s.list[i] != q && s.list[i].equal(&q.lineQueue) {
			p = s.list[i]
		}
	}
	if p == nil {
		return
	}
	for i := range q.members.each {
		s.of[i] = p
	}
	for w := range p.members {
		p.members[w] |= q.members[w]
	}
	p.count += q.count
	p.first = min(p.first, q.first)
	q.release()
	last := len(s.list) - 1
	s.list[q.at] = s.list[last]
	s.list[q.at].at = q.at
	s.list[last] = nil
	s.list = s.list[:last]
}

// clone returns a copy of the queue. No writer waits for room in the copy.
func (q *lineQueue) clone() lineQueue {
	c := *q
	c.buf, c.start, c.marks, c.room = slices.Clone(q.bytes()), 0, slices.Clone(q.marks), nil
	return c
}

// equal reports whether p and q hold the same bytes at the same position, regardless of their
// times.
func (q *lineQueue) equal(p *lineQueue) bool {
	return q.next == p.next && q.done == p.done && q.whole == p.whole && bytes.Equal(q.bytes(), p.bytes())
}
