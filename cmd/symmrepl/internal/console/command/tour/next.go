package tour

import (
	"context"
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// Next returns the row of `:next`.
func (t *Tour) Next() console.Command {
	return console.Command{
		Name: "next", Group: group, Where: console.AllRanks,
		Help: `show and run the next step of the tutorial`,
		Run:  t.next,
	}
}

// unsolved returns a sentence about the first exercise that is not solved yet, "" if all are.
func (t *Tour) unsolved() string {
	solved := t.solved()
	for i, step := range t.lesson.Steps {
		if e := step.Exercise; e != nil && !slices.Contains(solved, e.Title) {
			return fmt.Sprintf("The exercise %q is not solved yet: `:tutorial %s %d` goes back to it. ", e.Title, t.lesson.Name, i+1)
		}
	}
	return ""
}

func (t *Tour) next(ctx context.Context, c *console.Call) console.Outcome {
	if !t.ready(c) {
		return console.Failed
	}
	if t.at == len(t.lesson.Steps) {
		c.Print(render.Wrap("This was the last step. "+t.unsolved()+":tutorial lists the others.", c.Request.Columns))
		return console.Done
	}
	t.at++
	if t.step().Exercise != nil {
		t.hints = 0
	}
	t.record(c, func(r *tutorial.Reached) { r.Step = max(r.Step, t.at) })
	t.show(c)
	return t.again(ctx, c)
}
