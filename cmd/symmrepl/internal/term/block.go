package term

import "github.com/chzyer/readline"

// A block is an entry of several lines in the buffer of the editor, which only knows one line. A
// line break or a tab becomes a group of characters in the buffer, as many as its columns on the
// screen: a line break fills its row and the columns of the prompt on the next row. The editor then
// computes rows and columns correctly, the painter shows a group as blanks, and the listener lays
// the block out again after each key. The characters are in the private use area of the last plane.
const (
	blockNewline rune = 0x10f800 + iota // begins a group for a line break
	blockTab                            // begins a group for a tab
	blockFill
	blockEnd    // the last of a group
	blockStored // a line break in the history, which has no layout
)

// tabWidth is the number of columns of a tab in a block.
const tabWidth = 4

// cell is a character of a block and the part of the buffer that it takes.
type cell struct {
	r       rune // noRune for the rest of a group of which a part was deleted
	at, end int
}

const noRune rune = -1

// cells splits a buffer into cells.
func cells(buffer []rune) []cell {
	var list []cell
	for i := 0; i < len(buffer); {
		c := cell{buffer[i], i, i + 1}
		switch c.r {
		case blockNewline, blockTab:
			for c.end < len(buffer) && buffer[c.end] == blockFill {
				c.end++
			}
			switch {
			case c.end == len(buffer) || buffer[c.end] != blockEnd:
				c.r = noRune
			case c.r == blockNewline:
				c.r, c.end = '\n', c.end+1
			default:
				c.r, c.end = '\t', c.end+1
			}
		case blockFill, blockEnd:
			c.r = noRune
		case blockStored:
			c.r = '\n'
		}
		list = append(list, c)
		i = c.end
	}
	return list
}

// sourceOf returns the text of a buffer, and the position in it of a position in the buffer. A
// position inside a group moves to the end of the group if the cursor moves forward, else to its
// beginning.
func sourceOf(buffer []rune, pos int, forward bool) (text []rune, cursor int) {
	for _, c := range cells(buffer) {
		if c.r == noRune {
			continue
		}
		if c.end <= pos || c.at < pos && forward {
			cursor = len(text) + 1
		}
		text = append(text, c.r)
	}
	return text, cursor
}

// layOut returns the buffer of a text, and the position in it of a cursor, for the given widths of
// the screen and of the prompt.
func layOut(text []rune, cursor, prompt, columns int) (buffer []rune, pos int) {
	column := prompt % columns
	group := func(first rune, size int) {
		buffer = append(buffer, first)
		for range size - 2 {
			buffer = append(buffer, blockFill)
		}
		buffer = append(buffer, blockEnd)
	}
	for i, r := range text {
		if i == cursor {
			pos = len(buffer)
		}
		switch r {
		case '\n':
			group(blockNewline, columns-column+prompt)
			column = prompt % columns
			continue
		case '\t':
			group(blockTab, tabWidth)
			column += tabWidth
		default:
			buffer = append(buffer, r)
			column += readline.Runes{}.Width(r)
		}
		if column >= columns {
			column %= columns
		}
	}
	if cursor >= len(text) {
		pos = len(buffer)
	}
	return buffer, pos
}

// lineAt returns the bounds of the line that contains a cursor.
func lineAt(text []rune, cursor int) (start, end int) {
	start, end = cursor, cursor
	for start > 0 && text[start-1] != '\n' {
		start--
	}
	for end < len(text) && text[end] != '\n' {
		end++
	}
	return start, end
}

// lineAbove returns the cursor on the line above, lineBelow on the line below. ok is false if there
// is no such line.
func lineAbove(text []rune, cursor int) (moved int, ok bool) {
	start, _ := lineAt(text, cursor)
	if start == 0 {
		return cursor, false
	}
	above, _ := lineAt(text, start-1)
	return min(above+cursor-start, start-1), true
}

func lineBelow(text []rune, cursor int) (moved int, ok bool) {
	start, end := lineAt(text, cursor)
	if end == len(text) {
		return cursor, false
	}
	_, below := lineAt(text, end+1)
	return min(end+1+cursor-start, below), true
}
