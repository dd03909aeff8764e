package controller

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Programs enter cells through front ends of their own. The users of the session see these cells,
// and can interrupt them.

// announcedLines is the maximum number of lines of a program's cell that users are shown.
const announcedLines = 8

// announce shows a cell that a program has entered.
func (c *controller) announce(cell session.Cell) {
	if cell.By == "" || cell.Silent {
		return
	}
	lines := strings.Split(strings.TrimRight(cell.Text(), "\n"), "\n")
	if more := len(lines) - announcedLines; more > 0 {
		lines = append(lines[:announcedLines], fmt.Sprintf("… and %d more lines: `:history` shows all", more))
	}
	for i, line := range lines {
		lines[i] = strings.Map(visible, line)
	}
	c.tellUsers(fmt.Sprintf("%s runs %s (`:stop` interrupts it):\n    %s\n", cell.By, cell.Title(), strings.Join(lines, "\n    ")))
}

// visible replaces characters that would move the cursor of a terminal or change its colours.
func visible(r rune) rune {
	if r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return '·'
}

// announceEnd shows the outcome of a cell that a program has entered.
func (c *controller) announceEnd(cell session.Cell, reply session.Reply) {
	if cell.By == "" || cell.Silent {
		return
	}
	how := fmt.Sprintf("is done, after %.1f s", reply.Elapsed)
	if len(reply.Errors) > 0 {
		how = "has failed: " + strings.Map(visible, wire.FirstLine(reply.Errors[0].Error()))
	}
	if n := len(reply.Findings); n > 0 {
		how += fmt.Sprintf("; findings of the sanitizer: %d", n)
	}
	c.tellUsers(fmt.Sprintf("%s of %s %s\n", cell.Title(), cell.By, how))
}

// tellUsers shows a remark to the session's users at once: at the prompt, and in the notebook whose
// cell was the last. It does not keep the remark for front ends that show nothing between cells.
func (c *controller) tellUsers(text string) {
	if c.config.Notice != nil {
		c.config.Notice(strings.TrimSuffix(text, "\n"))
	}
	c.mu.Lock()
	late := c.late
	c.mu.Unlock()
	if late != nil {
		late(session.Output{Stream: session.Note, Text: text})
	}
}

// Interrupt implements Session.
func (c *controller) Interrupt(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil || c.stop == nil {
		return "", nil
	}
	c.stop()
	return c.run.cell.Title(), nil
}
