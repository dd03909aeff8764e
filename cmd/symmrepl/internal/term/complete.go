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

// Do returns the rest of each candidate after the cursor, and the length of the word that
// candidates share with the line. A tab at the beginning of a line or in pasted text is a tab. The
// editor can only add to a line: where the case of the word changes, Do types the change.
func (c completer) Do(line []rune, pos int) (ends [][]rune, shared int) {
	text, cursor := sourceOf(line, pos, false)
	before := string(text[:cursor])
	if strings.TrimSpace(before) == "" || c.p.keys.pasting() {
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
		if ok && len(candidate.Name)+1 < width()-1 && !strings.ContainsFunc(candidate.Name, unicode.IsControl) { // the editor cannot lay out others
			ends = append(ends, []rune(end))
		}
	}
	return ends, len([]rune(word))
}

// respelled returns the common beginning of the candidates, if it is word in another case.
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
