package session

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/session/inband"
)

const (
	foldAge  = 200 * time.Millisecond // how long a line waits for other ranks that go on before it is shown without them
	foldMost = 2 * time.Second        // the same, whether they go on or not
	foldLine = 64 << 10               // bytes after which a line counts as whole
	foldRank = 256 << 10              // bytes a rank may be ahead of the others
)

// fold merges what ranks print. It compares line i of one rank with line i of every other and shows equal lines once. A line is shown when
// every rank that still runs has printed as many lines, or when it has waited long enough: for foldAge if the other ranks are known to be
// alive since, which on a busy machine they may not be, and for most in any case. A rank that is far ahead of the others is held back for
// up to most. The two streams are folded separately. Methods may be called from several goroutines; emit is never called concurrently.
type fold struct {
	ranks []int // ascending; does not change
	// unfinished is set if the beginning of a line is shown, too, when the rest keeps it waiting: there is one rank, and a user may be asked something.
	unfinished bool
	// between is set if ranks print at different times, as between cells: once lines were shown without some ranks, and nothing is held, a rank is not
	// taken to be behind any more.
	between bool

	mu     sync.Mutex // guards all below
	emit   func(Output)
	most   time.Duration
	alive  []time.Time     // when each rank was last known not to be held up; as in ranks
	queues [3][]*lineQueue // by Stream, then as in ranks

	displays inband.Decoder

	out  Output // gathered for the same ranks, not emitted yet; its text is in text
	text []byte

	holders, awaited, same, rest []int // scratch: positions in ranks
}

// newFold returns a fold of what ranks, ascending, print.
func newFold(ranks []int, most time.Duration, emit func(Output)) *fold {
	f := &fold{emit: emit, most: most, ranks: ranks, alive: make([]time.Time, len(ranks))}
	for _, s := range []Stream{Stdout, Stderr} {
		for range ranks {
			f.queues[s] = append(f.queues[s], &lineQueue{})
		}
	}
	return f
}

// write adds bytes that rank printed. If the rank is far ahead of the others, write waits for up to most. It ignores ranks that newFold was
// not given.
func (f *fold) write(rank int, stream Stream, b []byte, now time.Time) {
	i, ok := slices.BinarySearch(f.ranks, rank)
	if !ok {
		return
	}
	f.mu.Lock()
	q := f.queues[stream][i]
	q.append(b, now)
	f.advance(stream, now)
	f.flush()
	room, most := q.wantRoom(), f.most
	f.mu.Unlock()
	if room == nil {
		return
	}
	select {
	case <-room:
	case <-time.After(most):
		f.mu.Lock()
		f.advance(stream, now.Add(most))
		f.flush()
		f.mu.Unlock()
	}
}

// endRank ends the output of a rank: what it printed last is a whole line now.
func (f *fold) endRank(rank int, now time.Time) {
	for _, stream := range []Stream{Stdout, Stderr} {
		f.endStream(rank, stream, now)
	}
}

// endStream does it for one stream.
func (f *fold) endStream(rank int, stream Stream, now time.Time) {
	i, ok := slices.BinarySearch(f.ranks, rank)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queues[stream][i].end()
	f.advance(stream, now)
	f.flush()
}

// tick shows lines that have waited long enough. It returns the ranks for which lines have waited for foldAge and that may be held up: the
// caller is to find out. It does nothing while output is being shown.
func (f *fold) tick(now time.Time) (behind []int) {
	if !f.mu.TryLock() {
		return nil
	}
	defer f.mu.Unlock()
	for _, stream := range []Stream{Stdout, Stderr} {
		if f.unfinished {
			f.queues[stream][0].takeUnfinished(now)
		}
		for _, i := range f.advance(stream, now) {
			behind = append(behind, f.ranks[i])
		}
	}
	f.flush()
	return behind
}

// noteAlive records that rank was not held up at a time: what it had printed by then has been written or will be soon.
func (f *fold) noteAlive(rank int, at time.Time) {
	i, ok := slices.BinarySearch(f.ranks, rank)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.alive[i] = at
}

// show emits an output that is folded already or that no rank printed.
func (f *fold) show(o Output) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emit(o)
}

// end ends the output of all ranks and shows what is left.
func (f *fold) end(now time.Time) {
	for _, r := range f.ranks {
		f.endRank(r, now)
	}
}

// redirect replaces emit. When it returns, the former emit is not called any more.
func (f *fold) redirect(emit func(Output)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emit = emit
}

// advance shows every line that is complete or overdue. It returns the positions of the ranks that may be held up and for which the next
// line waits.
func (f *fold) advance(stream Stream, now time.Time) (behind []int) {
	queues := f.queues[stream]
	for {
		holders, lines, awaited := f.first(queues)
		if len(holders) == 0 {
			return nil
		}
		since := queues[holders[0]].since()
		waited := now.Sub(since)
		if len(awaited) > 0 && waited < f.most {
			if waited < foldAge {
				return nil
			}
			behind = slices.DeleteFunc(slices.Clone(awaited), func(i int) bool { return f.alive[i].Sub(since) >= foldAge })
			if len(behind) > 0 {
				return behind
			}
		}
		if len(awaited) > 0 || !f.together(stream, queues, holders, lines) {
			f.line(stream, queues, holders)
		}
		if f.between && len(awaited) > 0 {
			f.countAnew(queues)
		}
	}
}

// countAnew makes the lines that come next the first ones of all ranks, if no rank holds any.
func (f *fold) countAnew(queues []*lineQueue) {
	for _, q := range queues {
		if q.whole > 0 {
			return
		}
	}
	for _, q := range queues {
		q.next = 0
	}
}

// first returns the ranks that hold the earliest line that is not shown yet, how many lines there are before the next that another rank
// holds, and the ranks that may still print that earliest line.
func (f *fold) first(queues []*lineQueue) (holders []int, lines int, awaited []int) {
	holders, awaited = f.holders[:0], f.awaited[:0]
	position := 0
	for i, q := range queues {
		if q.whole == 0 || (len(holders) > 0 && q.next > position) {
			continue
		}
		if len(holders) > 0 && q.next < position {
			holders = holders[:0]
		}
		position, holders = q.next, append(holders, i)
	}
	lines = math.MaxInt
	for i, q := range queues {
		if q.next > position {
			lines = min(lines, q.next-position)
		} else if q.whole == 0 && !q.done {
			awaited = append(awaited, i)
		}
	}
	f.holders, f.awaited = holders, awaited
	return holders, lines, awaited
}

// together shows at once the first lines that all holders have alike, at most as many as lines. It reports whether there are any. It leaves
// lines that are cut for their length to line.
func (f *fold) together(stream Stream, queues []*lineQueue, holders []int, lines int) bool {
	text := queues[holders[0]].bytes()[:queues[holders[0]].whole]
	for _, i := range holders[1:] {
		q := queues[i]
		text = text[:commonPrefix(text, q.bytes()[:q.whole])]
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if count := bytes.Count(text, newline); count <= lines {
		lines = count
	} else {
		end := 0
		for range lines {
			end += bytes.IndexByte(text[end:], '\n') + 1
		}
		text = text[:end]
	}
	if len(text) == 0 {
		return false
	}
	f.add(stream, holders, text)
	for _, i := range holders {
		queues[i].pop(len(text), lines)
	}
	return true
}

var newline = []byte{'\n'}

// line shows the first line of each holder, once for all holders that have it alike.
func (f *fold) line(stream Stream, queues []*lineQueue, holders []int) {
	for len(holders) > 0 {
		text := queues[holders[0]].line()
		f.same, f.rest = f.same[:0], f.rest[:0]
		for _, i := range holders {
			if bytes.Equal(queues[i].line(), text) {
				f.same = append(f.same, i)
			} else {
				f.rest = append(f.rest, i)
			}
		}
		f.add(stream, f.same, text)
		for _, i := range f.same {
			queues[i].pop(len(text), 1)
		}
		holders = append(holders[:0], f.rest...)
	}
}

// add appends lines of the holders to what is gathered, if that is of the same stream and holders; else it emits that first.
func (f *fold) add(stream Stream, holders []int, text []byte) {
	same := f.out.Stream == stream && len(f.out.Ranks) == len(holders) && len(f.text) < foldLine
	for n := 0; same && n < len(holders); n++ {
		same = f.out.Ranks[n] == f.ranks[holders[n]]
	}
	if !same {
		f.flush()
		f.out = Output{Stream: stream}
		for _, i := range holders {
			f.out.Ranks = append(f.out.Ranks, f.ranks[i])
		}
	}
	f.text = append(f.text, text...)
}

func (f *fold) flush() {
	if len(f.text) > 0 {
		out := f.out
		out.Text = string(f.text)
		f.out, f.text = Output{}, f.text[:0]
		f.deliver(out)
	}
}

// deliver emits what was gathered: text, and the displays in it.
func (f *fold) deliver(out Output) {
	if out.Stream != Stdout {
		f.emit(out)
		return
	}
	for _, p := range f.displays.Split(out.Ranks, out.Text) {
		if p.Display != nil {
			p.Text = p.Display.Plain()
			if p.Display.Note {
				f.emit(Output{Ranks: p.Ranks, Stream: Note, Text: p.Text})
				continue
			}
		}
		f.emit(Output{Ranks: p.Ranks, Stream: Stdout, Text: p.Text, Display: p.Display})
	}
}
