package controller

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/session/wire"
)

// typedLines are the lines that the user types for a cell. The ranks share them: the first line
// goes to the first read of each rank, and so on, so that the user is asked once for a line that
// all ranks read.
type typedLines struct {
	ctx  context.Context
	ask  func(context.Context) (string, error) // nil: the front end cannot ask the user
	give func(ranks []int, c wire.Input, text string)

	mu     sync.Mutex
	typed  []string
	ended  bool        // there will be no more lines
	wanted map[int]int // number of lines that each rank has asked for
	asking bool
}

// want records that ranks read a line.
func (l *typedLines) want(ranks []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, rank := range ranks {
		l.wanted[rank]++
	}
	l.serve(ranks)
	l.next()
}

// serve gives ranks the lines that they wait for, if these were typed: each line at once to all
// ranks that wait for it. l.mu is held.
func (l *typedLines) serve(ranks []int) {
	waiting := map[int][]int{} // ranks by the number of the line
	for _, rank := range ranks {
		n := l.wanted[rank]
		waiting[n] = append(waiting[n], rank)
	}
	for _, n := range slices.Sorted(maps.Keys(waiting)) {
		switch {
		case n <= len(l.typed):
			l.give(waiting[n], wire.Input{}, l.typed[n-1])
		case l.ended:
			l.give(waiting[n], wire.Input{End: true}, "")
		}
	}
}

// next asks the user for a line if a rank waits for one that was not typed yet. l.mu is held.
func (l *typedLines) next() {
	for _, n := range l.wanted {
		if n > len(l.typed) && !l.asking && !l.ended {
			l.asking = true
			go l.fetch()
		}
	}
}

func (l *typedLines) fetch() {
	text, err := "", io.EOF
	if l.ask != nil {
		text, err = l.ask(l.ctx)
	}
	if l.ctx.Err() != nil {
		return // the cell is over, or is ending
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = false
	if err != nil {
		l.ended = true
	} else {
		l.typed = append(l.typed, text+"\n")
	}
	var waiting []int
	for rank, n := range l.wanted {
		if n == len(l.typed) && !l.ended || n > len(l.typed) && l.ended {
			waiting = append(waiting, rank)
		}
	}
	slices.Sort(waiting)
	l.serve(waiting)
	l.next()
}
