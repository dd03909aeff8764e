package session

import (
	"bytes"
	"slices"
	"sync"
	"time"
)

const (
	foldAge  = 200 * time.Millisecond // how long a line waits for the other ranks' before it is shown without them
	foldLine = 64 << 10               // bytes after which a line counts as whole
	foldRank = 1 << 20                // bytes a rank may be ahead of the others
)

// fold merges what ranks print. Line i of one rank is compared with line i of every other: those who printed
// the same bytes are shown as one. A line is shown when every rank that still runs has come so far; a rank that
// lags is waited for no longer than foldAge, and no further than foldRank bytes. The two streams
// are folded apart from each other. Methods may be called from several goroutines; emit never is.
type fold struct {
	mu      sync.Mutex
	emit    func(Output)
	ranks   []int
	streams [3]foldStream // by Stream

	out  Output // gathered for the same ranks, not yet emitted; its text is in text
	text []byte

	holders, same, rest []int // scratch
}

type foldStream struct {
	ranks map[int]*foldRankState
}

// foldRankState is the queue of one rank's lines on one stream.
type foldRankState struct {
	done  bool
	next  int // position of the first queued line among all of the rank's lines
	lines []foldedLine
	bytes int    // in lines
	part  []byte // of a line that has not ended
}

type foldedLine struct {
	text []byte
	at   time.Time
}

// newFold returns a fold of what ranks, ascending, print.
func newFold(ranks []int, emit func(Output)) *fold {
	f := &fold{emit: emit, ranks: ranks}
	for _, s := range []Stream{Stdout, Stderr} {
		f.streams[s].ranks = map[int]*foldRankState{}
		for _, r := range ranks {
			f.streams[s].ranks[r] = &foldRankState{}
		}
	}
	return f
}

// write adds bytes that rank printed. Other ranks than those of newFold are ignored.
func (f *fold) write(rank int, stream Stream, b []byte, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.streams[stream]
	q := s.ranks[rank]
	if q == nil || len(b) == 0 {
		return
	}
	if len(q.part) > 0 {
		b = append(q.part, b...)
		q.part = nil
	} else {
		b = slices.Clone(b)
	}
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 || n > foldLine {
			if len(b) < foldLine {
				q.part = b
				break
			}
			n = foldLine
		}
		q.push(b[:n:n], now)
		b = b[n:]
	}
	f.advance(stream, now)
	f.flushOut()
}

// done says that rank prints nothing more; its last line is whole now.
func (f *fold) done(rank int, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, stream := range []Stream{Stdout, Stderr} {
		q := f.streams[stream].ranks[rank]
		if q == nil {
			continue
		}
		q.done = true
		if len(q.part) > 0 {
			q.push(q.part, now)
			q.part = nil
		}
		f.advance(stream, now)
	}
	f.flushOut()
}

// tick shows what has waited long enough. It does nothing while output is being shown.
func (f *fold) tick(now time.Time) {
	if !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	f.advance(Stdout, now)
	f.advance(Stderr, now)
	f.flushOut()
}

// note shows something that no rank printed.
func (f *fold) note(ranks []int, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emit(Output{Ranks: ranks, Stream: Note, Text: text})
}

// finish shows all that is left.
func (f *fold) finish(now time.Time) {
	for _, r := range f.ranks {
		f.done(r, now)
	}
}

// redirect shows what comes from now on elsewhere. When it returns, the former emit is not called any more.
func (f *fold) redirect(emit func(Output)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emit = emit
}

func (q *foldRankState) push(line []byte, now time.Time) {
	q.lines = append(q.lines, foldedLine{line, now})
	q.bytes += len(line)
}

func (q *foldRankState) pop() foldedLine {
	l := q.lines[0]
	q.lines[0] = foldedLine{}
	q.lines = q.lines[1:]
	q.bytes -= len(l.text)
	q.next++
	return l
}

// advance shows every position that is complete or overdue.
func (f *fold) advance(stream Stream, now time.Time) {
	s := &f.streams[stream]
	for {
		position, holders := s.first(f.ranks, f.holders[:0])
		f.holders = holders
		if len(holders) == 0 || !s.due(f.ranks, position, holders, now) {
			return
		}
		for len(holders) > 0 {
			text := s.ranks[holders[0]].lines[0].text
			f.same, f.rest = f.same[:0], f.rest[:0]
			for _, r := range holders {
				if bytes.Equal(s.ranks[r].lines[0].text, text) {
					f.same = append(f.same, r)
					s.ranks[r].pop()
				} else {
					f.rest = append(f.rest, r)
				}
			}
			f.add(stream, f.same, text)
			holders = append(holders[:0], f.rest...)
		}
	}
}

// first returns the earliest queued position and the ranks whose queue begins there, in the memory of holders.
func (s *foldStream) first(ranks, holders []int) (int, []int) {
	position := 0
	for _, r := range ranks {
		q := s.ranks[r]
		if len(q.lines) == 0 || (len(holders) > 0 && q.next > position) {
			continue
		}
		if len(holders) > 0 && q.next < position {
			holders = holders[:0]
		}
		position, holders = q.next, append(holders, r)
	}
	return position, holders
}

// due reports whether the position is to be shown: nobody else will come, or somebody has waited too long.
func (s *foldStream) due(ranks []int, position int, holders []int, now time.Time) bool {
	awaited := false
	for _, r := range ranks {
		q := s.ranks[r]
		awaited = awaited || (len(q.lines) == 0 && !q.done && q.next <= position)
	}
	if !awaited {
		return true
	}
	for _, r := range holders {
		q := s.ranks[r]
		if q.bytes > foldRank || now.Sub(q.lines[0].at) >= foldAge {
			return true
		}
	}
	return false
}

// add appends a line to what is gathered, if it comes from the same ranks.
func (f *fold) add(stream Stream, ranks []int, text []byte) {
	if f.out.Stream != stream || !slices.Equal(f.out.Ranks, ranks) || len(f.text) >= foldLine {
		f.flushOut()
		f.out = Output{Ranks: slices.Clone(ranks), Stream: stream}
	}
	f.text = append(f.text, text...)
}

func (f *fold) flushOut() {
	if len(f.text) > 0 {
		out := f.out
		out.Text = string(f.text)
		f.out, f.text = Output{}, f.text[:0]
		f.emit(out)
	}
}
