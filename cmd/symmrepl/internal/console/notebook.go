package console

import (
	"context"
	"strings"
)

// Notebook runs a notebook's cell: its leading lines that are commands or shell lines, each as an entry, and what follows them as another. It stops
// at the first that fails.
func (c *Console) Notebook(ctx context.Context, cell string) Outcome {
	outcome := Done
	for _, e := range split(cell) {
		if outcome = c.run(ctx, e.text, e.line); outcome != Done {
			break
		}
	}
	return outcome
}

// LastEntry returns the last entry of a notebook's cell, or of the beginning of one.
func LastEntry(cell string) string {
	entries := split(cell)
	return entries[len(entries)-1].text
}

// part is an entry of a notebook's cell and the line it begins on.
type part struct {
	text string
	line int
}

// split returns at least one entry. Commands that take code take the rest of the cell.
func split(cell string) []part {
	var parts []part
	line := 1
	for {
		head, rest, more := strings.Cut(cell, "\n")
		trimmed := strings.TrimSpace(head)
		leading := trimmed == "" || isCommand(trimmed) && !strings.HasPrefix(trimmed, magic) || strings.HasPrefix(trimmed, "$")
		if !more || !leading || takesCode(trimmed) {
			return append(parts, part{cell, line})
		}
		if trimmed != "" {
			parts = append(parts, part{trimmed, line})
		}
		cell, line = rest, line+1
	}
}

// takesCode reports whether a line is the beginning of `:time CODE` or `:on RANKS CODE`.
func takesCode(line string) bool {
	if !isCommand(line) {
		return false
	}
	fields := strings.Fields(line[1:])
	if len(fields) == 0 {
		return false
	}
	cmd, _ := lookup(fields[0])
	return cmd.Name == "time" || cmd.Name == "trace" || cmd.Name == "on" && len(fields) > 2
}
