package tour

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/statedir"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/session"
)

// Tutorial returns the row of `:tutorial`.
func (t *Tour) Tutorial() console.Command {
	return console.Command{
		Name: "tutorial", Args: "[NAME [STEP]]", Group: group, Where: console.AllRanks,
		Help: `list the tutorials, or begin one
":tutorial 03" continues where you left it; it first runs the cells before that, because a fresh session has not run them.
":tutorial 03 1" begins at step 1. In a notebook the list has links to the notebooks of the tutorials; exercises that were solved in them count.`,
		Run: t.open,
	}
}

// open lists the tutorials, or opens one: at the step where the user left it, or at a given step.
func (t *Tour) open(ctx context.Context, c *console.Call) console.Outcome {
	if c.Arg == "" {
		return list(c)
	}
	name, number, numbered := strings.Cut(c.Arg, " ")
	lesson, err := tutorial.Find(name)
	if err != nil {
		return c.Fail(err)
	}
	if c.Console.Size < 2 {
		return c.Fail(errors.New("ranks that talk to each other are needed: `symmrepl tutorial -n 4` starts four, also without a GPU"))
	}
	at := tutorial.ReadProgress(statedir.Dir())[lesson.Name].Step
	if at == len(lesson.Steps) { // it was read to the end
		at = 0
	}
	if numbered {
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 1 || n > len(lesson.Steps) {
			return c.Fail(fmt.Errorf("a step from 1 to %d is expected, not %q", len(lesson.Steps), number))
		}
		at = n
	}
	*t = Tour{lesson: &lesson}
	if at > 1 {
		c.Print(fmt.Sprintf("Step %d of %d. The cells before it are run again.\n", at, len(lesson.Steps)))
		if t.catchUp(ctx, c, at-1) != console.Done {
			return console.Failed
		}
	} else {
		c.Print(render.Fit(lesson.Name+": :next goes on, and between the steps you can enter what you like. :help lists the other commands.\n", c.Request.Columns))
	}
	return t.next(ctx, c)
}

// list prints all tutorials with the user's progress.
func list(c *console.Call) console.Outcome {
	all, err := tutorial.All()
	if err != nil {
		return c.Fail(err)
	}
	progress := tutorial.ReadProgress(statedir.Dir())
	rows := [][]string{{"tutorial", "read", "solved", ""}}
	for _, l := range all {
		reached, read := progress[l.Name], ""
		switch {
		case reached.Step >= len(l.Steps):
			read = "to the end"
		case reached.Step > 0:
			read = fmt.Sprintf("%d of %d", reached.Step, len(l.Steps))
		}
		rows = append(rows, []string{l.Name, read, fmt.Sprintf("%d of %d", len(reached.Solved), len(l.Exercises())), l.Title})
	}
	begin := ":tutorial 01 begins one here, `symmrepl tutorial 01` at a shell."
	if c.Console.Session == nil { // the list of `symmrepl tutorial`, at a shell
		begin = "symmrepl tutorial 01 begins one."
	}
	c.PrintForms(render.Fit(render.Table(rows), c.Request.Columns)+"\n"+begin,
		map[string]any{"text/markdown": tutorial.Overview(all, progress)})
	return console.Done
}

// catchUp runs the cells of the first steps without printing. Solved exercises run their solutions.
func (t *Tour) catchUp(ctx context.Context, c *console.Call, steps int) console.Outcome {
	solved := t.solved()
	for _, step := range t.lesson.Steps[:steps] {
		var cell tutorial.Cell
		switch {
		case step.Cell != nil && !step.Cell.Fails:
			cell = *step.Cell
		case step.Exercise != nil && slices.Contains(solved, step.Exercise.Title):
			cell = step.Exercise.Solution
		case step.Exercise != nil:
			cell = step.Exercise.Start
		default:
			continue
		}
		if reply := c.Eval(ctx, lessonCell(cell)); len(reply.Errors) > 0 {
			return c.Reply(session.Reply{Errors: reply.Errors})
		}
	}
	t.at = steps
	return console.Done
}
