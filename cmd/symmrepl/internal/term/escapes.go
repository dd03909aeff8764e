package term

import (
	"bytes"
	"strings"
)

// Brackets around pasted text, which a terminal sends on request.
const (
	pasteOn    = "\x1b[?2004h" // asks the terminal for brackets around pasted text
	pasteOff   = "\x1b[?2004l"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Keys without a control character of their own. The editor gets them as characters that nobody can
// type, because keys.arrived drops these.
const (
	keyDelete     = 0x1e
	keyNewline    = 0x1f // Alt-Enter: a line break within an entry
	keyWordLeft   = 0x1c
	keyWordRight  = 0x1d
	keyDeleteWord = 0x18
)

// longestString bounds an answer of the terminal, such as its colours, that is read as one
// sequence.
const longestString = 1 << 10

// escapeSequence returns the size of the escape sequence at the beginning of text, or 0 if its end
// is missing, and its key, or 0 if it has no meaning here. It knows the sequences of xterm, tmux,
// screen, rxvt and the Linux console.
func escapeSequence(text []byte) (size int, key byte) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '[':
		return controlSequence(text)
	case 'O':
		if len(text) < 3 {
			return 0, 0
		}
		switch text[2] {
		case 'c':
			return 3, keyWordRight
		case 'd':
			return 3, keyWordLeft
		}
		return 3, cursorKey(text[2], false)
	case ']', 'P', '_', '^', 'X': // an answer of the terminal
		for _, end := range []string{"\a", "\x1b\\"} {
			if i := bytes.Index(text, []byte(end)); i >= 0 {
				return i + len(end), 0
			}
		}
		if len(text) > longestString || bytes.IndexByte(text, '\r') >= 0 {
			return 2, 0
		}
		return 0, 0
	case escape:
		return 1, 0
	case 'b':
		return 2, keyWordLeft
	case 'f':
		return 2, keyWordRight
	case 'd':
		return 2, keyDeleteWord
	case erase, '\b':
		return 2, ctrlW
	case '\r', '\n':
		return 2, keyNewline
	}
	if text[1] < ' ' {
		return 1, 0 // the key itself counts, Ctrl-C most of all
	}
	return 2, 0
}

// controlSequence is escapeSequence of text that begins with "\x1b[".
func controlSequence(text []byte) (size int, key byte) {
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == '[' && i == 2: // a function key of the Linux console: one more byte
			if len(text) < 4 {
				return 0, 0
			}
			return 4, 0
		case c >= '@' && c <= '~', c == '$':
			return i + 1, sequenceKey(string(text[2:i]), c)
		case c < ' ' || c > '~': // not a sequence
			return i, 0
		}
	}
	return 0, 0
}

// sequenceKey returns the key of a control sequence by its parameters and its last byte.
func sequenceKey(parameters string, last byte) byte {
	number, modifier, _ := strings.Cut(parameters, ";")
	modified := modifier != "" && modifier != "1"
	if last != '~' {
		return cursorKey(last, modified)
	}
	switch number {
	case "1", "7":
		return cursorKey('H', modified)
	case "4", "8":
		return cursorKey('F', modified)
	case "3":
		if modified {
			return keyDeleteWord
		}
		return keyDelete
	}
	return 0
}

// cursorKey returns a key that moves the cursor, by the last byte of its sequence. With Ctrl, Alt or Shift, left and right move by words.
func cursorKey(last byte, modified bool) byte {
	switch last {
	case 'A':
		return ctrlP
	case 'B':
		return ctrlN
	case 'C':
		if modified {
			return keyWordRight
		}
		return ctrlF
	case 'D':
		if modified {
			return keyWordLeft
		}
		return ctrlB
	case 'H':
		return ctrlA
	case 'F':
		return ctrlE
	case 'c':
		return keyWordRight
	case 'd':
		return keyWordLeft
	}
	return 0
}
