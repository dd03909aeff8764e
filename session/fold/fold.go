// Package fold shows lines that several ranks print alike once.
package fold

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
)

const (
	Tick     = 50 * time.Millisecond  // between two calls of fold.Tick
	Promptly = 2 * Tick               // a rank that is not held up answers within this time
	Age      = 200 * time.Millisecond // time that a line waits for other running ranks before it is shown without them
	foldMost = 2 * time.Second        // the same, whether the other ranks run or are held up; for hundreds of ranks see MostFor
	MaxLine  = 64 << 10               // bytes after which a line counts as whole
	MaxAhead = 256 << 10              // bytes a rank may be ahead of the others
)

// Fold merges the output of ranks. It compares line i of one rank with line i of every other and
// shows equal lines once. The lines of a block, which one call printed, count as one line, so that a
// matrix that differs between ranks is shown whole for each rank: see inband.WriteText. A line is shown
// when every rank that still runs has printed as many lines, or when the line has waited long enough:
// for Age if the other ranks have shown since then that they are not held up, as they may be on a
// busy machine, and for most in any case. A rank that is far ahead of the others is held back for up
// to most. The two streams are folded separately. Ranks with equal output cost no more memory and time
// than one rank: see strand. Methods may be called from several goroutines; emit is never called
// concurrently.
type Fold struct {
	ranks []int // ascending; does not change
	// unfinished is set if the fold also shows the beginning of a line when the rest does not come:
	// there is one rank, and the line may be a question to the user.
	Unfinished bool
	// between is set if ranks print at different times, as between cells: once lines were shown
	// without some ranks, and no line is held, these ranks do not count as behind any more.
	Between bool

	mu      sync.Mutex // guards the fields below
	emit    func(session.Output)
	most    time.Duration
	alive   []time.Time // when each rank was last known not to be held up; indexed like ranks
	streams [3]strands  // by Stream

	displays inband.Decoder

	out  session.Output // output gathered for the same ranks and not emitted yet; its text is in text
	text []byte

	holders, awaited []*strand // scratch
	members          bits      // scratch
}

// MostFor returns foldMost for a number of ranks. If hundreds of ranks share the processors of a few
// hosts, more time passes until all have had a turn.
func MostFor(ranks int) time.Duration { return foldMost * time.Duration(1+ranks/256) }

// New returns a fold of the output of ranks, ascending.
func New(ranks []int, most time.Duration, emit func(session.Output)) *Fold {
	f := &Fold{emit: emit, most: most, ranks: ranks, alive: make([]time.Time, len(ranks)), members: make(bits, (len(ranks)+63)/64)}
	for _, s := range []session.Stream{session.Stdout, session.Stderr} {
		f.streams[s] = newStrands(len(ranks))
	}
	return f
}

// write adds bytes that each of ranks, ascending, printed. If they are far ahead of the others,
// write waits for up to most. It ignores ranks that are not in the fold.
func (f *Fold) write(ranks []int, stream session.Stream, b []byte, now time.Time) {
	if wait := f.Add(ranks, stream, b, now); wait != nil {
		wait()
	}
}

// Add is write without the wait: the caller calls the returned function to wait, unless it is nil.
func (f *Fold) Add(ranks []int, stream session.Stream, b []byte, now time.Time) (wait func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, positions := &f.streams[stream], f.positions(ranks)
	all.endNow()
	for _, q := range all.exactly(positions) {
		q.append(b, now)
		if q.next < all.position {
			all.blocker = nil
		}
		all.join(q)
	}
	f.advance(now)
	f.flush()
	var room chan struct{}
	for _, i := range positions {
		if full := all.of[i].wantRoom(); full != nil {
			room = full
		}
	}
	if room == nil {
		return nil
	}
	return func() {
		select {
		case <-room:
		case <-time.After(f.most):
			f.mu.Lock()
			f.advance(now.Add(f.most))
			f.flush()
			f.mu.Unlock()
		}
	}
}

// positions returns the indices in f.ranks of ranks, without ranks that are not in f.ranks.
func (f *Fold) positions(ranks []int) []int {
	positions := make([]int, 0, len(ranks))
	for _, rank := range ranks {
		if rank < len(f.ranks) && f.ranks[rank] == rank { // always so if all ranks take part
			positions = append(positions, rank)
		} else if i, ok := slices.BinarySearch(f.ranks, rank); ok {
			positions = append(positions, i)
		}
	}
	return positions
}

// EndRanks ends the output of ranks, ascending: an unfinished last line now counts as a whole line.
func (f *Fold) EndRanks(ranks []int, now time.Time) {
	f.EndStreams(ranks, now, session.Stdout, session.Stderr)
}

// EndStreams does the same for some streams.
func (f *Fold) EndStreams(ranks []int, now time.Time, streams ...session.Stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, stream := range streams {
		all := &f.streams[stream]
		all.ending = append(all.ending, f.positions(ranks)...)
		if !all.silent() {
			all.endNow()
		}
	}
	f.advance(now)
	f.flush()
}

// Tick shows lines that have waited long enough. It returns the ranks, ascending, for which lines
// have waited for Age; the caller has to find out whether these ranks are held up. It does
// nothing while output is being shown.
func (f *Fold) Tick(now time.Time) (behind []int) {
	if !f.mu.TryLock() {
		return nil
	}
	defer f.mu.Unlock()
	for _, stream := range []session.Stream{session.Stdout, session.Stderr} {
		if f.Unfinished {
			f.streams[stream].of[0].takeUnfinished(now)
		}
	}
	behind = f.advance(now)
	f.flush()
	return behind
}

// NoteAlive records that ranks were not held up at a time: their output until then has been written
// or will be soon.
func (f *Fold) NoteAlive(ranks []int, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.positions(ranks) {
		f.alive[i] = at
	}
}

// Show emits an output that is already folded or does not come from ranks.
func (f *Fold) Show(o session.Output) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emit(o)
}

// End ends the output of all ranks and shows the remaining lines.
func (f *Fold) End(now time.Time) { f.EndRanks(f.ranks, now) }

// Redirect replaces emit. When it returns, the previous function is not called any more.
func (f *Fold) Redirect(emit func(session.Output)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emit = emit
}

// advance shows every line that is complete or overdue, of both streams in the order in which the
// lines came. It returns the ranks, ascending, for which the next line waits and which may be held
// up.
func (f *Fold) advance(now time.Time) (behind []int) {
	for {
		stream, until := f.earliest()
		if stream == 0 {
			return nil
		}
		goesOn, behind := f.advanceStream(stream, until, now)
		if !goesOn {
			return behind
		}
	}
}

// earliest returns the stream of the line that came first among those that are held, 0 if none is,
// and when the first line of the other stream came; zero if that has none.
func (f *Fold) earliest() (stream session.Stream, until time.Time) {
	out, err := f.streams[session.Stdout].came(), f.streams[session.Stderr].came()
	switch {
	case out.IsZero() && err.IsZero():
		return 0, until
	case err.IsZero() || !out.IsZero() && !err.Before(out):
		return session.Stdout, err
	}
	return session.Stderr, out
}

// advanceStream shows lines of a stream until one waits, or came later than until, unless that is
// zero. It reports whether the latter is so or no line is left.
func (f *Fold) advanceStream(stream session.Stream, until, now time.Time) (goesOn bool, behind []int) {
	all := &f.streams[stream]
	if all.blocked(now) {
		return false, nil
	}
	for {
		all.blocker = nil
		holders, lines, awaited := f.first(stream)
		if len(holders) == 0 {
			return true, nil
		}
		since := earliestOf(holders)
		if !until.IsZero() && since.After(until) {
			return true, nil
		}
		waited := now.Sub(since)
		if len(awaited) > 0 && waited < f.most {
			if waited < Age {
				all.blocker, all.position, all.since = awaited[0], holders[0].next, since
				return false, nil
			}
			for _, q := range awaited {
				for i := range q.members.each {
					if f.alive[i].Sub(since) < Age {
						behind = append(behind, f.ranks[i])
					}
				}
			}
			if len(behind) > 0 {
				slices.Sort(behind)
				return false, behind
			}
		}
		slices.SortFunc(holders, func(a, b *strand) int { return a.first - b.first })
		if len(awaited) > 0 || !f.together(stream, holders, lines, until) {
			f.line(stream, holders)
		}
		for _, q := range holders {
			all.join(q)
		}
		if f.Between && len(awaited) > 0 {
			f.countAnew(stream)
		}
	}
}

// countAnew makes the lines that come next the first ones of all ranks, if no rank holds any.
func (f *Fold) countAnew(stream session.Stream) {
	all := &f.streams[stream]
	for _, q := range all.list {
		if q.whole > 0 {
			return
		}
	}
	for _, q := range all.list {
		q.next = 0
	}
	for _, q := range slices.Clone(all.list) {
		all.join(q)
	}
}

// first returns the strands that hold the earliest line not shown yet, the number of lines up to
// the next line that other strands hold, and the strands that may still print that earliest line.
func (f *Fold) first(stream session.Stream) (holders []*strand, lines int, awaited []*strand) {
	holders, awaited = f.holders[:0], f.awaited[:0]
	position := 0
	list := f.streams[stream].list
	for _, q := range list {
		if q.whole == 0 || (len(holders) > 0 && q.next > position) {
			continue
		}
		if len(holders) > 0 && q.next < position {
			holders = holders[:0]
		}
		position, holders = q.next, append(holders, q)
	}
	lines = math.MaxInt
	for _, q := range list {
		if q.next > position {
			lines = min(lines, q.next-position)
		} else if q.whole == 0 && !q.done {
			awaited = append(awaited, q)
		}
	}
	f.holders, f.awaited = holders, awaited
	return holders, lines, awaited
}

// together shows at once the first lines that are equal in all holders, at most the given number.
// It reports whether there are any. Lines that are cut because of their length are left to the
// method line, and so are those that came later than until, unless that is zero.
func (f *Fold) together(stream session.Stream, holders []*strand, lines int, until time.Time) bool {
	text := holders[0].bytes()[:holders[0].wholeUntil(until)]
	for _, q := range holders[1:] {
		text = text[:commonPrefix(text, q.bytes()[:q.wholeUntil(until)])]
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
	f.gather(stream, holders, text)
	for _, q := range holders {
		q.pop(len(text), lines)
	}
	return true
}

var newline = []byte{'\n'}

// line shows the first line of each holder, equal lines once.
func (f *Fold) line(stream session.Stream, holders []*strand) {
	alike := make(map[string][]*strand, len(holders))
	var texts []string // in the order of the first ranks
	for _, q := range holders {
		text := string(q.line())
		if alike[text] == nil {
			texts = append(texts, text)
		}
		alike[text] = append(alike[text], q)
	}
	for _, text := range texts {
		f.gather(stream, alike[text], []byte(text))
		for _, q := range alike[text] {
			q.pop(len(text), 1)
		}
	}
}

// gather appends lines of the holders to the gathered output. If that has another stream or other
// ranks, gather emits it first.
func (f *Fold) gather(stream session.Stream, holders []*strand, text []byte) {
	count := 0
	clear(f.members)
	for _, q := range holders {
		count += q.count
		for w := range q.members {
			f.members[w] |= q.members[w]
		}
	}
	ranks := make([]int, 0, count)
	for i := range f.members.each {
		ranks = append(ranks, f.ranks[i])
	}
	if f.out.Stream != stream || !slices.Equal(f.out.Ranks, ranks) || len(f.text) >= MaxLine {
		f.flush()
		f.out = session.Output{Stream: stream, Ranks: ranks}
	}
	f.text = append(f.text, text...)
}

func (f *Fold) flush() {
	if len(f.text) > 0 {
		out := f.out
		out.Text = string(f.text)
		f.out, f.text = session.Output{}, f.text[:0]
		f.deliver(out)
	}
}

// deliver emits the gathered output: text, and the displays in it.
func (f *Fold) deliver(out session.Output) {
	if out.Stream != session.Stdout {
		f.emit(out)
		return
	}
	var last session.Output // text of the same ranks is joined to it
	for _, p := range f.displays.Split(out.Ranks, out.Text) {
		o := session.Output{Ranks: p.Ranks, Stream: session.Stdout, Text: p.Text, Display: p.Display}
		if p.Display != nil {
			o.Text = p.Display.Plain()
		}
		switch {
		case p.Display == nil:
		case p.Display.Block:
			o.Display = nil
		case p.Display.Note:
			o.Stream, o.Display = session.Note, nil
		}
		if last.Stream == session.Stdout && o.Stream == session.Stdout && last.Display == nil && o.Display == nil && slices.Equal(last.Ranks, o.Ranks) {
			last.Text += o.Text
			continue
		}
		f.emitUnlessNone(last)
		last = o
	}
	f.emitUnlessNone(last)
}

func (f *Fold) emitUnlessNone(o session.Output) {
	if o.Stream != 0 {
		f.emit(o)
	}
}

// SetMost changes the time for which lines wait at most, whether the other ranks run or are held up.
func (f *Fold) SetMost(most time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.most = most
}
