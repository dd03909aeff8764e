package tour

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// Check returns the row of `:check`.
func (t *Tour) Check() console.Command {
	return console.Command{
		Name: "check", Group: group, Where: console.AllRanks,
		Help: `check your answer to the exercise
The check uses what you have defined in the session. It prints "correct", or says what is wrong.`,
		Run: t.check,
	}
}

func (t *Tour) check(ctx context.Context, c *console.Call) console.Outcome {
	e := t.exercise(c)
	if e == nil {
		return console.Failed
	}
	cell := lessonCell(e.Check)
	cell.Silent = true
	if reply := c.Cell(ctx, cell); len(reply.Errors) > 0 {
		return console.Failed
	}
	t.record(c, func(r *tutorial.Reached) { r.Solve(e.Title) })
	return console.Done
}
