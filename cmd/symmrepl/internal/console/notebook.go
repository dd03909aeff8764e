package console

import (
	"cmp"
	"context"
	"strings"
)

// Notebook runs a notebook's cell: each leading command or shell line as an entry, and the
// remaining lines as another. It stops at the first that fails.
func (c *Console) Notebook(ctx context.Context, r Request) Outcome {
	outcome, first := Done, cmp.Or(r.Line, 1)
	for _, e := range c.split(r.Source) {
		r.Source, r.Line = e.text, first+e.line-1
		if outcome = c.Run(ctx, r); outcome != Done {
			break
		}
	}
	return outcome
}

// LastEntry returns the last entry of a notebook's cell, which may be incomplete.
func (c *Console) LastEntry(cell string) string {
	entries := c.split(cell)
	return entries[len(entries)-1].text
}

// Source returns the source of the session's cell that the last entry of a notebook's cell becomes; ""
// if it becomes none.
func (c *Console) Source(cell string) string {
	entry := strings.TrimRight(c.LastEntry(cell), space)
	if strings.HasPrefix(strings.TrimSpace(entry), magic) && !strings.Contains(strings.TrimSpace(entry), "\n") {
		return ""
	}
	source, isCell := c.code(entry)
	if !isCell || strings.TrimSpace(source) == "" {
		return ""
	}
	return source
}

// HasCode reports whether a notebook's cell ends with Go that runs on the ranks of `:on`.
func (c *Console) HasCode(cell string) bool {
	entry := strings.TrimSpace(c.LastEntry(cell))
	_, isCell := c.code(entry)
	return isCell && entry != "" && !isCommand(entry) && !strings.HasPrefix(entry, magic)
}

// part is an entry of a notebook's cell and the line it begins on.
type part struct {
	text string
	line int
}

// split returns at least one entry. Commands that take code take the rest of the cell.
func (c *Console) split(cell string) []part {
	var parts []part
	line := 1
	for {
		head, rest, more := strings.Cut(cell, "\n")
		trimmed := strings.TrimSpace(head)
		leading := trimmed == "" || isCommand(trimmed) || strings.HasPrefix(trimmed, "$")
		if !more || !leading || c.takesCode(trimmed) {
			return append(parts, part{cell, line})
		}
		if trimmed != "" {
			parts = append(parts, part{trimmed, line})
		}
		cell, line = rest, line+1
	}
}

// takesCode reports whether a line is the beginning of a command with code, such as `:time CODE` or
// `:on RANKS CODE`.
func (c *Console) takesCode(line string) bool {
	_, isCell := c.code(line)
	return isCommand(line) && isCell
}
