package term

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ergochat/readline"
)

// guard stands between the keys and the line editor: filter gets each key before the editor does,
// listen gets the line after the editor has changed it. Both run in the goroutine that reads a
// line.
type guard struct {
	resize, refresh func()        // of the editor
	paste           func() string // returns the text of a keyPaste
	typed           func(string)  // makes a text the next keys
	indent          int           // columns of the prompt
	text            []rune        // of the line
	cursor          int           // in text
	pos             int           // of the cursor in the editor's buffer
	edit            edit          // to be made by the listener
	searching       bool          // the editor searches the history
	menu            menu
	done            atomic.Bool // paint the line as one that is entered
}

// edit changes a text and the position of the cursor in it.
type edit func(text []rune, cursor int) ([]rune, int)

// menu is the state of the editor's list of completions.
type menu int

const (
	menuNone menu = iota
	menuListed
	menuSelecting // the cursor keys choose one
)

// nothing is a key that ends a search or a menu and does nothing else.
const nothing = readline.CharCtrl_

// begin begins a line after a prompt of some columns.
func (g *guard) begin(prompt int) {
	g.indent, g.text, g.cursor, g.pos = prompt, nil, 0, 0
	g.edit, g.searching, g.menu = nil, false, menuNone
	g.done.Store(false)
	g.resize()
}

// filter is the editor's FuncFilterInputRune.
func (g *guard) filter(r rune) (rune, bool) {
	g.resize()
	searched := g.searching
	g.searching = r == readline.CharBckSearch || r == readline.CharFwdSearch || searched && (r >= ' ' || r == readline.CharCtrlH)
	if searched && r == keyPaste { // the search looks for words of a line
		words, _, _ := strings.Cut(strings.TrimSpace(g.paste()), "\n")
		g.typed(strings.ReplaceAll(words, "\t", " "))
		g.searching = true
		return r, false
	}
	if searched && r == readline.CharTab {
		return nothing, true
	}
	r = g.menuKey(r)
	if edit := g.editOf(r); edit != nil && !searched {
		g.edit = edit
		return nothing, true
	}
	done := r == readline.CharEnter || r == readline.CharCtrlJ
	if g.done.Store(done); done && g.cursor == len(g.text) {
		g.refresh() // the editor would only append the line break
	}
	if meta, ok := metaKeys[r]; ok {
		return meta, true
	}
	return r, true
}

// metaKeys are the editor's names for keys of escapes.go.
var metaKeys = map[rune]rune{
	keyWordLeft:   readline.MetaBackward,
	keyWordRight:  readline.MetaForward,
	keyDelete:     readline.MetaDeleteKey,
	keyDeleteWord: readline.MetaDelete,
}

// menuKey keeps track of the menu of completions and returns the key for the editor. The last row
// of a menu may be short. The editor lets Left and Right move beyond its end, and panics on Enter
// there. So Right goes to the next completion, and Left ends the choice.
func (g *guard) menuKey(r rune) rune {
	selecting := g.menu == menuSelecting
	switch {
	case selecting && r == readline.CharForward:
		return readline.CharTab
	case g.menu != menuNone && r == readline.CharTab:
		g.menu = menuSelecting
		return r
	case selecting && strings.ContainsRune("\x01\x05\x0e\x10jJkK", r):
		return r
	}
	g.menu = menuNone
	if selecting && r == readline.CharBackward {
		return nothing
	}
	return r
}

// editOf returns the change that a key makes to the line, nil if the editor makes it.
func (g *guard) editOf(r rune) edit {
	insert := func(more ...rune) edit {
		return func(text []rune, cursor int) ([]rune, int) {
			return slices.Insert(text, cursor, more...), cursor + len(more)
		}
	}
	switch r {
	case keyNewline:
		return insert('\n')
	case keyPaste: // Enter runs it, not its last line break
		return insert([]rune(strings.TrimRight(g.paste(), "\n"))...)
	}
	if g.menu == menuSelecting || !slices.Contains(g.text, '\n') {
		return nil
	}
	move := func(to int) edit {
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

// listen is the editor's Listener. It always returns a line, which the editor then paints as a
// whole: by itself the editor paints only the characters that were appended.
func (g *guard) listen(buffer []rune, pos int, key rune) ([]rune, int, bool) {
	if key == 0 || g.searching { // key 0: a line begins
		return nil, 0, false
	}
	text, cursor := sourceOf(buffer, pos, g.indent, pos > g.pos)
	if g.edit != nil {
		text, cursor = g.edit(text, cursor)
		g.edit = nil
	}
	g.text, g.cursor = text, cursor
	buffer, g.pos = layOut(text, cursor, g.indent)
	return buffer, g.pos, true
}
