package term

import (
	"bytes"
	"regexp"
)

// Keys that have no control character of their own. guard.filter gets them as control characters that
// keys.arrived drops when they are typed.
const (
	keyDelete     = 0x1e
	keyNewline    = 0x1f // Alt-Enter: a line break within an entry
	keyWordLeft   = 0x1c
	keyWordRight  = 0x1d
	keyDeleteWord = 0x18
	keyPaste      = 0x16 // pasted text, which pastes holds
)

// keySequences are the sequences of each key, without ESC, in xterm, tmux, screen, rxvt and the
// Linux console. M stands for the modifiers, such as 5 for Ctrl.
var keySequences = map[byte][]string{
	ctrlP:         {"[A", "OA", "[1;MA"},
	ctrlN:         {"[B", "OB", "[1;MB"},
	ctrlF:         {"[C", "OC"},
	ctrlB:         {"[D", "OD"},
	ctrlA:         {"[H", "OH", "[1~", "[7~", "[1;MH", "[1;M~", "[7;M~"},
	ctrlE:         {"[F", "OF", "[4~", "[8~", "[1;MF", "[4;M~", "[8;M~"},
	ctrlW:         {"\x7f", "\b"},
	keyDelete:     {"[3~"},
	keyNewline:    {"\r", "\n"},
	keyWordLeft:   {"[1;MD", "[d", "Od", "b"},
	keyWordRight:  {"[1;MC", "[c", "Oc", "f"},
	keyDeleteWord: {"[3;M~", "d"},
}

// sequenceKeys are the keys by their sequences.
var sequenceKeys = func() map[string]byte {
	keys := map[string]byte{}
	for key, sequences := range keySequences {
		for _, s := range sequences {
			keys[s] = key
		}
	}
	return keys
}()

// modifiers are the part of a sequence for which M stands.
var modifiers = regexp.MustCompile(`;([2-9]|1\d)`)

// sequence matches an escape sequence: of a function key of the Linux console, of other keys and
// answers of a terminal, of a keypad, a string, and Alt with a character.
var sequence = regexp.MustCompile(`(?s)^\x1b(?:\[\[[ -~]|\[[ -#%-?]*[@-Z\\-~$]|O[ -~]|` +
	`[\]P_^X].*?(?:\a|\x1b\\)|[^\x00-\x1f\[O\]P_^X]|[\x08\r\n])`)

// longestString bounds a string of the terminal, such as its answer with its colours.
const longestString = 1 << 10

// escapeSequence returns the size of the escape sequence at the beginning of text, 0 if its end is
// missing, and its key, 0 if the prompt has no use for it. A broken sequence ends before the byte
// that breaks it, which may be Ctrl-C.
func escapeSequence(text []byte) (size int, key byte) {
	if s := sequence.Find(text); s != nil {
		return len(s), sequenceKeys[modifiers.ReplaceAllString(string(s[1:]), ";M")]
	}
	switch {
	case len(text) < 2:
		return 0, 0
	case text[1] < ' ':
		return 1, 0
	case text[1] == '[' || text[1] == 'O':
		if end := bytes.IndexFunc(text[2:], func(r rune) bool { return r < ' ' || r > '~' }); end >= 0 {
			return 2 + end, 0
		}
	case len(text) > longestString || bytes.IndexByte(text, '\r') >= 0:
		return 2, 0
	}
	return 0, 0
}
