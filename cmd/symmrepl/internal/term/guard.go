package term

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/chzyer/readline"
)

// guard stands between the keys and the editor. Its filter withholds keys that the editor handles
// wrongly, and the listener does their work. The listener also lays out blocks.
type guard struct {
	operation func() *readline.Operation
	columns   atomic.Int64 // of the screen, as the editor knows them

	mu     sync.Mutex // guards the fields below: a new line begins in another goroutine than the keys'
	text   []rune     // of the line
	cursor int        // in text
	pos    int        // of the cursor in the buffer
	prompt int        // columns
	edit   func(text []rune, cursor int) ([]rune, int)
	menu   int64 // columns of the screen when the menu of completions was shown
}

// begin sets the columns of the prompt of the next line.
func (g *guard) begin(prompt int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prompt = prompt
}

// resized sets the columns of the screen.
func (g *guard) resized(columns int) { g.columns.Store(int64(columns)) }

// nothing is a key without effect on the line; the listener is called after it.
const nothing = readline.CharBell

// filter is the editor's FuncFilterInputRune. It never asks to ignore a key, because the editor
// would then go on reading after the end of the line.
func (g *guard) filter(r rune) (rune, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closeMenu(r)
	if edit := g.editOf(r); edit != nil {
		if op := g.operation(); op.IsSearchMode() {
			op.ExitSearchMode(false)
		}
		g.edit = edit
		return nothing, true
	}
	switch {
	case r == keyWordLeft:
		return readline.MetaBackward, true
	case r == keyWordRight:
		return readline.MetaForward, true
	case r == keyDeleteWord:
		return readline.MetaDelete, true
	case r == keyDelete, r == keyNewline, r < 0:
		return nothing, true
	}
	return r, true
}

// closeMenu closes the menu of completions before keys that do not belong to it: the editor panics
// after some of them, and when the screen has become too narrow for the menu; and Ctrl-C must clear
// the line.
func (g *guard) closeMenu(r rune) {
	op := g.operation()
	if r == readline.CharTab && !op.IsInCompleteMode() {
		g.menu = g.columns.Load()
	}
	if !op.IsInCompleteMode() {
		return
	}
	belongs := r >= ' ' || r == readline.CharTab || r == readline.CharCtrlH
	if op.IsInCompleteSelectMode() {
		belongs = strings.ContainsRune("\t\r\n\x02\x06\x0e\x10", r)
	}
	if !belongs || g.menu != g.columns.Load() {
		op.ExitCompleteMode(true)
	}
}

// editOf returns the change that a key makes to the line, or nil if the editor makes it. g.mu is
// held.
func (g *guard) editOf(r rune) func(text []rune, cursor int) ([]rune, int) {
	op := g.operation()
	switch r {
	case readline.CharTranspose:
		return transpose
	case keyDelete:
		return deleteAt
	case keyNewline:
		return func(text []rune, cursor int) ([]rune, int) { return slices.Insert(text, cursor, '\n'), cursor + 1 }
	}
	if !slices.Contains(g.text, '\n') || op.IsSearchMode() || op.IsInCompleteMode() {
		return nil
	}
	move := func(to int) func([]rune, int) ([]rune, int) {
		return func(text []rune, _ int) ([]rune, int) { return text, to }
	}
	start, end := lineAt(g.text, g.cursor)
	switch r {
	case readline.CharPrev:
		if to, ok := lineAbove(g.text, g.cursor); ok {
			return move(to)
		}
	case readline.CharNext:
		if to, ok := lineBelow(g.text, g.cursor); ok {
			return move(to)
		}
	case readline.CharLineStart:
		return move(start)
	case readline.CharLineEnd:
		return move(end)
	}
	return nil
}

// OnChange is the editor's listener.
func (g *guard) OnChange(buffer []rune, pos int, key rune) ([]rune, int, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if key == 0 { // a new line begins
		g.text, g.cursor, g.pos = nil, 0, 0
		return nil, 0, false
	}
	if g.operation().IsSearchMode() {
		return nil, 0, false
	}
	text, cursor := sourceOf(buffer, pos, pos > g.pos)
	if g.edit != nil {
		text, cursor = g.edit(text, cursor)
		g.edit = nil
	}
	g.text, g.cursor = text, cursor
	var laid []rune
	laid, g.pos = layOut(text, cursor, g.prompt, int(g.columns.Load()))
	return laid, g.pos, g.pos != pos || !slices.Equal(laid, buffer)
}

// transpose swaps the characters around the cursor, or the last two at the end of the line.
func transpose(text []rune, cursor int) ([]rune, int) {
	at := min(cursor, len(text)-1)
	if at < 1 {
		return text, cursor
	}
	text[at-1], text[at] = text[at], text[at-1]
	return text, at + 1
}

// deleteAt deletes the character at the cursor.
func deleteAt(text []rune, cursor int) ([]rune, int) {
	if cursor < len(text) {
		text = slices.Delete(text, cursor, cursor+1)
	}
	return text, cursor
}
