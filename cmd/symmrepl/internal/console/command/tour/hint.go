package tour

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// Hint returns the row of `:hint`.
func (t *Tour) Hint() console.Command {
	return console.Command{
		Name: "hint", Group: group, Where: console.Here,
		Help: `show the next hint to the exercise, and after the last one a solution`,
		Run:  t.hint,
	}
}

func (t *Tour) hint(_ context.Context, c *console.Call) console.Outcome {
	e := t.exercise(c)
	if e == nil {
		return console.Failed
	}
	if t.hints == len(e.Hints) {
		c.Print("A solution; enter it, or your own after it:\n\n" + indent(e.Solution.Code()))
		return console.Done
	}
	hint := e.Hints[t.hints]
	t.hints++
	more := "the next :hint shows the solution"
	if left := len(e.Hints) - t.hints; left > 0 {
		more = fmt.Sprintf("%d more", left)
	}
	c.Print(render.Wrap(fmt.Sprintf("Hint %d (%s): %s", t.hints, more, hint), c.Request.Columns))
	return console.Done
}
