package console

import (
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
	"github.com/symmrepl/symmrepl/session"
)

// Assembler joins lines into entries, for front ends that read lines.
type Assembler struct {
	c     *Console
	lines []string
}

// Assembler returns an empty assembler for this console.
func (c *Console) Assembler() *Assembler { return &Assembler{c: c} }

// Add takes the next line. If the line completes an entry, Add returns the entry and starts an
// empty one. With force, as for typed lines, a blank line ends an incomplete entry, so that the
// session reports the missing end; but not inside a raw string or the text of a `%%cuda` cell,
// which may contain blank lines. A line that no other can make valid ends the entry, too. Without
// force, as for pasted lines, such an entry still takes lines until its brackets are closed: the
// rest of a function with a mistake is no cell of its own.
func (a *Assembler) Add(line string, force bool) (entry string, complete bool) {
	if len(a.lines) == 0 && strings.TrimSpace(line) == "" {
		return "", false
	}
	a.lines = append(a.lines, line)
	entry = a.Pending()
	if len(entry) > session.MaxSource { // the session refuses it
		a.lines = nil
		return entry, true
	}
	_, _, isSnippet := snippet(entry)
	if force && strings.TrimSpace(line) == "" && !isSnippet && !gotokens.InRaw(entry) || !a.c.NeedsMore(entry) &&
		(force || !a.c.Malformed(entry) || gotokens.Depth(entry) == 0) {
		a.lines = nil
		return entry, true
	}
	return "", false
}

// Pending returns the lines of the incomplete entry.
func (a *Assembler) Pending() string { return strings.Join(a.lines, "\n") }

// Reset drops the incomplete entry.
func (a *Assembler) Reset() { a.lines = nil }
