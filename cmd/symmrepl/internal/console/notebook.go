package console

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
)

// Notebook runs a notebook's cell: each command or shell line as an entry, and the Go before, between
// and behind them. It stops at the first entry that fails.
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

// Source returns the source of the last session's cell that a notebook's cell becomes; "" if it becomes
// none.
func (c *Console) Source(cell string) string {
	for _, e := range slices.Backward(c.split(cell)) {
		entry := strings.TrimRight(e.text, space)
		if strings.HasPrefix(strings.TrimSpace(entry), magic) && !strings.Contains(strings.TrimSpace(entry), "\n") {
			continue
		}
		if source, isCell := c.code(entry); isCell && strings.TrimSpace(source) != "" {
			return source
		}
	}
	return ""
}

// HasCode reports whether a notebook's cell has Go that runs on the ranks of `:on`.
func (c *Console) HasCode(cell string) bool {
	return slices.ContainsFunc(c.split(cell), func(e part) bool {
		entry := strings.TrimSpace(e.text)
		_, isCell := c.code(entry)
		return isCell && entry != "" && !isCommand(entry) && !strings.HasPrefix(entry, magic)
	})
}

// part is an entry of a notebook's cell and the line it begins on.
type part struct {
	text string
	line int
}

// split returns at least one entry. A command that takes code ends with the statement on its line, or
// with the cell if no code is on its line, or if a line "%%" follows the statement.
func (c *Console) split(cell string) []part {
	var parts []part
	line := 1
	for {
		head, rest, more := strings.Cut(cell, "\n")
		trimmed, end, alone := strings.TrimSpace(head), len(cell), false
		switch {
		case trimmed == "" && more:
			cell, line = rest, line+1
			continue
		case isCommand(trimmed), strings.HasPrefix(trimmed, "$"):
			source, takes := c.code(trimmed)
			switch alone = !takes; {
			case alone && more:
				end = len(head) + 1
			case takes && strings.TrimSpace(source) != "":
				end = cellfile.CommandEnd(cell)
				if next, _, _ := strings.Cut(strings.TrimLeft(cell[end:], space), "\n"); strings.TrimSpace(next) == magic {
					end = len(cell) // other codes of the command follow
				}
			}
		case !strings.HasPrefix(trimmed, magic):
			if next := cellfile.NextCommand(cell); next >= 0 {
				end = next
			}
		}
		if end == len(cell) && !(alone && more) {
			return append(parts, part{cell, line})
		}
		parts = append(parts, part{strings.TrimRight(cell[:end], space), line})
		cell, line = cell[end:], line+strings.Count(cell[:end], "\n")
	}
}
