package fold

import (
	"bytes"
	"time"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session/inband"
)

// lineQueue holds a rank's output on one stream that is not shown yet.
type lineQueue struct {
	done  bool
	next  int    // number of the first held line among all lines of the rank
	buf   []byte // from start on: whole lines, and the beginning of another
	start int
	whole int           // bytes of whole lines
	taken int           // number of bytes removed so far
	marks []mark        // when the bytes came
	room  chan struct{} // set if a writer waits for room; closed when there is room
}

// mark is the time at which the bytes of a stream before end came.
type mark struct {
	end int
	at  time.Time
}

func (q *lineQueue) bytes() []byte { return q.buf[q.start:] }

func (q *lineQueue) append(b []byte, now time.Time) {
	if q.start > len(q.buf)/2 {
		q.buf, q.start = append(q.buf[:0], q.buf[q.start:]...), 0
	}
	before := len(q.bytes())
	q.buf = append(q.buf, b...)
	q.marks = append(q.marks, mark{q.taken + before + len(b), now})
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		q.whole = before + i + 1
	}
	for rest := q.bytes()[q.whole:]; len(rest) >= MaxLine; rest = q.bytes()[q.whole:] {
		q.whole += cut(rest)
	}
	if q.done {
		q.whole = len(q.bytes())
	}
}

func (q *lineQueue) end() {
	q.done = true
	q.whole = len(q.bytes())
}

// takeUnfinished counts the beginning of a line as a whole line if the rest does not come promptly,
// and if it is not the beginning of a display.
func (q *lineQueue) takeUnfinished(now time.Time) {
	rest := q.bytes()[q.whole:]
	if len(rest) > 0 && now.Sub(q.marks[len(q.marks)-1].at) >= Promptly && !inband.Begun(rest) {
		q.whole = len(q.bytes())
	}
}

// line returns the first line held. The caller has checked that whole is not zero.
func (q *lineQueue) line() []byte {
	b := q.bytes()[:min(q.whole, MaxLine)]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i+1]
	}
	if len(b) == MaxLine {
		b = b[:cut(b)]
	}
	return b
}

// cut returns the index at which to cut a line of at least MaxLine bytes: MaxLine, or the start
// of a character that crosses it.
func cut(line []byte) int {
	for i := MaxLine - 1; i > MaxLine-utf8.UTFMax; i-- {
		if utf8.RuneStart(line[i]) {
			if utf8.FullRune(line[i:MaxLine]) {
				break
			}
			return i
		}
	}
	return MaxLine
}

// since returns the time at which the first held line became complete, or slightly earlier.
func (q *lineQueue) since() time.Time {
	return q.marks[0].at
}

// wholeUntil returns the number of bytes of whole lines that came until a time; of all whole lines if
// it is zero.
func (q *lineQueue) wholeUntil(at time.Time) int {
	if at.IsZero() {
		return q.whole
	}
	n := 0
	for _, m := range q.marks {
		if m.at.After(at) {
			break
		}
		n = m.end - q.taken
	}
	return min(n, q.whole)
}

// wantRoom returns nil if the queue has room, and otherwise a channel that will be closed when it
// has.
func (q *lineQueue) wantRoom() chan struct{} {
	if len(q.bytes()) > MaxAhead && q.room == nil {
		q.room = make(chan struct{})
	}
	return q.room
}

// pop removes the first n bytes, which are the given number of lines.
func (q *lineQueue) pop(n, lines int) {
	q.start += n
	q.whole -= n
	q.taken += n
	q.next += lines
	for len(q.marks) > 0 && q.marks[0].end <= q.taken {
		q.marks = q.marks[1:]
	}
	if q.start == len(q.buf) {
		q.buf, q.start = q.buf[:0], 0
	}
	if len(q.bytes()) <= MaxAhead/2 {
		q.release()
	}
}

// release wakes a writer that waits for room.
func (q *lineQueue) release() {
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
}

// commonPrefix returns the length of the longest common prefix of a and b.
func commonPrefix(a, b []byte) int {
	const block = 4 << 10
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
