package interp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

const watchEvery = 5 * time.Millisecond

// limit is something that code of cells may not take without end.
type limit interface {
	// begin is called before code of cells runs when none does, and may come while exceeded is called.
	begin()
	// exceeded says what is the matter when code of cells has to stop, else "".
	exceeded() (what, detail, hint string)
}

// watch looks at a limit while any code of cells runs, and stops all of it when that runs away: endless recursion ends a Go process, and a machine without
// memory ends whatever it likes. Each limit has a watch of its own, for one that has to collect garbage first may take long.
type watch struct {
	rt    *cellRuntime
	limit limit
	armed atomic.Bool
}

// arm makes the watch look for as long as code of cells runs. The first that runs begins.
func (w *watch) arm(first bool) {
	if first {
		w.limit.begin()
	}
	if !w.armed.Swap(true) {
		time.AfterFunc(watchEvery, w.look)
	}
}

func (w *watch) look() {
	if w.rt.busy.Load() == 0 {
		w.armed.Store(false)
		if w.rt.busy.Load() > 0 { // since a moment ago
			w.arm(false)
		}
		return
	}
	if what, detail, hint := w.limit.exceeded(); what != "" {
		e := &session.Error{Kind: session.KindPanic, Peer: -1, Hint: hint}
		function := w.rt.in.locate(e, w.rt.position())
		e.Msg = fmt.Sprintf("%s in %s: %s", what, function, detail)
		w.rt.in.stopAll(e)
	}
	time.AfterFunc(watchEvery, w.look)
}

// stopAll ends the cell that runs with an error, and returns when it has ended. When none does, it ends the goroutines of earlier cells, and the error is only
// written. What they took is given back before another cell runs, which would be stopped for it.
func (in *Interp) stopAll(e *session.Error) {
	r := in.runtime.current()
	if in.turn.TryLock() {
		defer in.turn.Unlock()
		if in.runtime.busy.Load() > 0 { // still
			fmt.Fprintln(os.Stderr, e)
			in.stopLeft()
			debug.FreeOSMemory()
		}
		return
	}
	if r == nil { // the first cell is being checked
		return
	}
	r.ranAway.Store(true)
	if r.failWith(e) {
		<-r.done
	}
}

// locate puts a position into e and returns what to call the function there.
func (in *Interp) locate(e *session.Error, at token.Pos) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, text := range in.cells {
		if text.place(e, at) {
			return text.functionAt(at)
		}
	}
	return "a function"
}

// functionAt says in which function of a cell a position is.
func (c *cellText) functionAt(at token.Pos) string {
	line, column, _ := c.position(at)
	const header = "package main\n"
	fset := token.NewFileSet()
	items, _ := split(c.cell.Source)
	file, _ := parser.ParseFile(fset, "", header+blank(c.cell.Source, items, true), parser.SkipObjectResolution)
	if file == nil {
		return "a function"
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		start, end := fset.Position(f.Pos()), fset.Position(f.End())
		here := token.Position{Line: line + 1, Column: column}
		if before(start, here) && before(here, end) {
			return f.Name.Name
		}
	}
	return "a function literal"
}

func before(a, b token.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column <= b.Column
}
