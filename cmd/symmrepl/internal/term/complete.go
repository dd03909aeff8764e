package term

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
)

// completer answers the Tab key.
type completer struct{ p *prompt }

// backspace is the key that removes the character before the cursor.
const backspace = "\x7f"

// Do returns the ends of the words that may stand before the cursor, and the number of characters
// that the words share with the line. A tab at the beginning of a line is a tab.
// The editor can only add to the line; if case has to change, Do types the change.
func (c completer) Do(line []rune, pos int) (ends [][]rune, shared int) {
	text, cursor := sourceOf(line, pos, c.p.guard.indent, false)
	before := string(text[:cursor])
	if strings.TrimSpace(before) == "" {
		return [][]rune{{'\t'}}, 0
	}
	if pending := c.p.lines.Pending(); pending != "" {
		before = pending + "\n" + before
	}
	candidates, word := c.p.console.Complete(context.Background(), before)
	if better := respelled(candidates, word); better != "" {
		c.p.keys.insert(strings.Repeat(backspace, utf8.RuneCountInString(word)) + better)
		return nil, 0
	}
	for _, candidate := range candidates {
		end, ok := strings.CutPrefix(candidate.Name, word)
		if ok && !strings.ContainsFunc(candidate.Name, unicode.IsControl) { // the editor would show those as they are
			ends = append(ends, []rune(end))
		}
	}
	if len(ends) > 1 {
		c.p.guard.menu = menuListed
	}
	return ends, len([]rune(word))
}

// respelled returns the beginning that the candidates share, if it is word in another case.
func respelled(candidates []session.Candidate, word string) string {
	if len(candidates) == 0 || strings.HasPrefix(candidates[0].Name, word) {
		return ""
	}
	shared := candidates[0].Name
	for _, c := range candidates[1:] {
		for !strings.HasPrefix(c.Name, shared) {
			_, size := utf8.DecodeLastRuneInString(shared)
			shared = shared[:len(shared)-size]
		}
	}
	if len(shared) < len(word) {
		return ""
	}
	return shared
}
