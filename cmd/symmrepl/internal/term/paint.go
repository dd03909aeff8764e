package term

import (
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// longestColoured is the number of characters up to which a line is coloured: with each key, the editor
// paints all of it.
const longestColoured = 1 << 16

// paint is the editor's Painter: it shows the characters of blocks, and colours the typed text. Its
// result takes as many columns as buffer, unless the entry is taller than the screen and still
// edited. Notify makes the editor paint in any goroutine.
func (p *prompt) paint(buffer []rune, pos int) []rune {
	shown := make([]rune, len(buffer))
	for i, r := range buffer {
		switch r {
		case fill:
			r = ' '
		case stored:
			r = '↵'
		}
		shown[i] = r
	}
	above, cursor := []rune(nil), pos
	if !p.guard.done.Load() {
		columns, rows := size()
		from, to := window(shown, pos, p.guard.indent, columns, rows)
		above, shown, cursor = shown[:from], shown[from:to], max(pos-from, 0)
	}
	if !p.colour || len(buffer) > longestColoured {
		return shown
	}
	before := p.lines.Pending()
	if before != "" {
		before += "\n"
	}
	cursor = len(string(shown[:cursor]))
	if p.guard.done.Load() {
		cursor = -1
	}
	return []rune(render.HighlightEntry(before+string(above), string(shown), cursor))
}

// tabColumns is the width of a tab in the line editor.
const tabColumns = 4

// window returns the bounds of the part of an entry that a screen shows: all of it if it has no more
// rows than the screen, else the last rows, or the rows from that of the cursor if it is above those. The
// editor moves the cursor up by the rows of the whole entry, and so to the top of the screen, where it
// paints the prompt and the window. The prompt takes the columns of the indent.
func window(entry []rune, cursor, indent, columns, rows int) (from, to int) {
	starts, column := []int{0}, indent // of rows
	for i, r := range entry {
		wide := render.RuneColumns(r)
		switch {
		case r == '\n':
			starts, column = append(starts, i+1), 0
			continue
		case r == '\t':
			wide = tabColumns
		}
		if column+wide > columns {
			starts, column = append(starts, i), 0
		}
		column += wide
	}
	if len(starts) <= rows {
		return 0, len(entry)
	}
	row, found := slices.BinarySearch(starts, cursor)
	if !found {
		row--
	}
	row = min(row, len(starts)-rows)
	from, to = starts[row], len(entry)
	if row+rows < len(starts) {
		to = starts[row+rows]
		if entry[to-1] == '\n' {
			to--
		}
	}
	for column = 0; row > 0 && column < indent && from < to && entry[from] != '\n'; from++ {
		column += render.RuneColumns(entry[from])
	}
	return from, to
}
