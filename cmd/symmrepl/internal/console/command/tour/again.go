package tour

import (
	"context"
	"errors"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// Again returns the row of `:again`.
func (t *Tour) Again() console.Command {
	return console.Command{
		Name: "again", Group: group, Where: console.AllRanks,
		Help: `run the current step again; of an exercise, the code that it begins with`,
		Run:  t.again,
	}
}

func (t *Tour) again(ctx context.Context, c *console.Call) console.Outcome {
	if !t.ready(c) {
		return console.Failed
	}
	if t.at == 0 { // the cells before the first step that is shown have failed
		return c.Fail(errors.New("no step was shown yet; :next goes on"))
	}
	step := t.step()
	switch {
	case step.Exercise != nil:
		return console.OutcomeOf(c.Cell(ctx, lessonCell(step.Exercise.Start)))
	case step.Cell == nil:
		return console.Done
	}
	reply := c.Cell(ctx, lessonCell(*step.Cell))
	if step.Cell.Fails && ctx.Err() == nil {
		return console.Done
	}
	return console.OutcomeOf(reply)
}
