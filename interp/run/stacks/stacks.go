package stacks

import (
	"cmp"
	"go/token"
	"os"
	"path/filepath"
	"sync"

	"github.com/symmrepl/symmrepl/session"
)

// Stacks are the stacks of the goroutines that run code of cells.
type Stacks struct {
	// Mark and CallMark point to the variables contract.MarkVar and contract.CallVar: positions of the
	// statement that runs, and of the cell's own statement.
	Mark, CallMark *int

	host   Host
	leave  func(*Defers) bool
	panics panicStacks
	codes  functionCodes
	by     sync.Map // the callStack of each goroutine that is in traced functions, by its number
	points tracePoints
}

// Host knows the text of cells.
type Host interface {
	// Locate sets the place in an error if the position is in the text of a cell that may still
	// run, and returns a name for the function there.
	Locate(e *session.Error, at token.Pos) (function string)
	// Directed returns the file and the line that a line directive gives to a position. File is ""
	// if no directive applies, and ok is false if the directive gives no line.
	Directed(at token.Pos) (file string, line int, ok bool)
}

// New returns stacks without any call. Leave reports whether the function of deferred calls was
// stopped; if so, it keeps them, and RunAll is called later or never.
func New(host Host, leave func(*Defers) bool) *Stacks {
	return &Stacks{host: host, leave: leave, panics: panicStacks{by: map[int64][]*Panic{}}}
}

// FileLine returns the file and line of a position: those that a line directive gives, the full
// file name in a script, or the name of a cell, such as cell[3].
func (s *Stacks) FileLine(at token.Pos) (file string, line int) {
	file, line, directed := s.host.Directed(at)
	if file != "" {
		return file, line
	}
	var e session.Error
	s.host.Locate(&e, at)
	if directed {
		e.Line = line
	}
	if _, err := os.Stat(e.File); err == nil {
		if full, err := filepath.Abs(e.File); err == nil {
			return full, e.Line
		}
	}
	return cmp.Or(e.File, "???"), e.Line
}

// MarkFault stores the position of an expression that panics, unless it is in a package.
func (s *Stacks) MarkFault(position int) {
	var at session.Error
	if s.host.Locate(&at, token.Pos(position)); at.File != "" {
		*s.Mark = position
	}
}
