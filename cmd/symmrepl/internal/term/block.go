package term

// A block is an entry of several lines in the editor's buffer. The editor shows a line break as
// such, but the row below begins at the left. So each line break is followed by fills, as many as
// the prompt has columns, which are shown as blanks. A line break and its fills are a group, which
// is one character of the text; if a key deletes part of a group, listen removes the rest. Fills
// are in the private use area of the last plane.
const (
	fill   rune = 0x10f802
	stored rune = 0x10f804 // a line break in the history, whose entries have one line
)

// sourceOf returns the text of a buffer, and the cursor in the text for a position in the buffer. A
// position within a group becomes the group's end if the cursor moves forward, else the group's
// beginning. Incomplete groups are left out.
func sourceOf(buffer []rune, pos, indent int, forward bool) (text []rune, cursor int) {
	for i := 0; i < len(buffer); {
		r, start := buffer[i], i
		for i++; (r == '\n' || r == fill) && i < len(buffer) && buffer[i] == fill; i++ {
		}
		switch {
		case r == fill, r == '\n' && i-start-1 < indent:
			continue
		case r == stored:
			r = '\n'
		}
		text = append(text, r)
		if i <= pos || start < pos && forward {
			cursor = len(text)
		}
	}
	return text, cursor
}

// layOut returns the buffer for a text, and the position in the buffer for a cursor in the text.
func layOut(text []rune, cursor, indent int) (buffer []rune, pos int) {
	for i, r := range text {
		if i == cursor {
			pos = len(buffer)
		}
		buffer = append(buffer, r)
		for range indent {
			if r == '\n' {
				buffer = append(buffer, fill)
			}
		}
	}
	if cursor >= len(text) {
		pos = len(buffer)
	}
	return buffer, pos
}

// lineAt returns the bounds of the line of text that holds a cursor.
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

// lineAbove returns the cursor moved to the line above, lineBelow to the one below. ok is false if
// there is none.
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
