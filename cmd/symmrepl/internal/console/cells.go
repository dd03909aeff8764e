package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

func (c *Console) on(ctx context.Context, arg string) Outcome {
	list, source, hasCode := strings.Cut(arg, " ")
	if list == "" {
		if ranks := c.Target(); ranks == nil {
			c.Printer.Print("cells run on all ranks")
		} else {
			c.Printer.Print("cells run on ranks " + session.FormatRanks(ranks))
		}
		return Done
	}
	ranks, err := c.Ranks(list)
	if err != nil {
		return c.fail("on", err)
	}
	if hasCode {
		return c.Cell(ctx, session.Cell{Source: source, Ranks: ranks})
	}
	if len(ranks) == c.Size {
		ranks = nil
	}
	c.setTarget(ranks)
	return Done
}

func (c *Console) time(ctx context.Context, source string) Outcome {
	reply, outcome := c.eval(ctx, session.Cell{Source: source})
	c.Printer.Print("elapsed " + formatSeconds(reply.Elapsed))
	return outcome
}

// formatSeconds shows a duration with three or four digits and a fitting unit.
func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", s*1e6)
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", s*1e3)
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", s)
	}
	return d.Round(100 * time.Millisecond).String()
}

func (c *Console) history(ctx context.Context, arg string) Outcome {
	cells, err := c.Session.History(ctx)
	if err != nil {
		return c.fail("history", err)
	}
	if arg != "" {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return c.fail("history", fmt.Errorf("a number of cells is expected, not %q", arg))
		}
		cells = cells[max(0, len(cells)-n):]
	}
	var b strings.Builder
	for _, cell := range cells {
		head := fmt.Sprintf("cell[%d] ", cell.ID)
		if cell.Ranks != nil {
			head += "on " + session.FormatRanks(cell.Ranks) + " "
		}
		source := strings.TrimRight(cell.Source, "\n")
		b.WriteString(head + strings.ReplaceAll(source, "\n", "\n"+strings.Repeat(" ", len(head))) + "\n")
	}
	if b.Len() > 0 {
		c.Printer.Print(b.String())
	}
	return Done
}

func (c *Console) quit(context.Context, string) Outcome { return Quit }
