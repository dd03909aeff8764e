package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/statedir"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/session"
)

// tour is a tutorial that is being read.
type tour struct {
	tutorial.Lesson
	at    int // steps shown; the current one is the last of them
	hints int // shown of the exercise at hand
}

// tutorial lists the tutorials, or begins one: where it was left, or at a step that is named.
func (c *Console) tutorial(ctx context.Context, arg string) Outcome {
	if arg == "" {
		return c.tutorials()
	}
	name, number, numbered := strings.Cut(arg, " ")
	lesson, err := tutorial.Find(name)
	if err != nil {
		return c.fail("tutorial", err)
	}
	if c.Size < 2 {
		return c.fail("tutorial", errors.New("ranks that talk to each other are needed: `symmrepl tutorial -n 4` starts four, also without a GPU"))
	}
	at := tutorial.ReadProgress(statedir.Dir())[lesson.Name].Step
	if at == len(lesson.Steps) { // it was read to the end
		at = 0
	}
	if numbered {
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 1 || n > len(lesson.Steps) {
			return c.fail("tutorial", fmt.Errorf("a step from 1 to %d is expected, not %q", len(lesson.Steps), number))
		}
		at = n
	}
	c.tour = &tour{Lesson: lesson}
	if at > 1 {
		c.Printer.Print(fmt.Sprintf("Step %d of %d. The cells before it are run again.\n", at, len(lesson.Steps)))
		if c.catchUp(ctx, at-1) != Done {
			return Failed
		}
	} else {
		c.Printer.Print(lesson.Name + ": :next goes on, and between the steps you can enter what you like. :help lists what else there is.\n")
	}
	return c.next(ctx, "")
}

// tutorials lists all with what was read of them.
func (c *Console) tutorials() Outcome {
	all, err := tutorial.All()
	if err != nil {
		return c.fail("tutorial", err)
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
	c.Printer.Print(render.Table(rows) + "\n:tutorial 01 begins one here, `symmrepl tutorial 01` at a shell.")
	return Done
}

// catchUp runs the cells of the first steps, quietly. Exercises that were solved get their solution.
func (c *Console) catchUp(ctx context.Context, steps int) Outcome {
	solved := tutorial.ReadProgress(statedir.Dir())[c.tour.Name].Solved
	for _, step := range c.tour.Steps[:steps] {
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
		if reply := c.Session.Eval(ctx, lessonCell(cell)); len(reply.Errors) > 0 {
			c.Printer.Reply(session.Reply{Errors: reply.Errors})
			return Failed
		}
	}
	c.tour.at = steps
	return Done
}

// lessonCell is a cell of a tutorial as the session takes it.
func lessonCell(cell tutorial.Cell) session.Cell {
	return session.Cell{Name: cell.File, Line: cell.Line, Source: cell.Source}
}

// touring reports whether a tutorial is open and says so if none is.
func (c *Console) touring(command string) bool {
	switch {
	case c.tour == nil:
		c.fail(command, errors.New("no tutorial is open; :tutorial lists them"))
	case c.Target() != nil:
		c.fail(command, errors.New("tutorials are for all ranks; `:on all` goes back to them"))
	default:
		return true
	}
	return false
}

// next shows and runs the step after the current one.
func (c *Console) next(ctx context.Context, _ string) Outcome {
	if !c.touring("next") {
		return Failed
	}
	t := c.tour
	if t.at == len(t.Steps) {
		c.Printer.Print("This was the last step. :tutorial lists the others.")
		return Done
	}
	t.at++
	if t.Steps[t.at-1].Exercise != nil {
		t.hints = 0
	}
	c.keep(func(r *tutorial.Reached) { r.Step = t.at })
	c.show()
	return c.again(ctx, "")
}

// prev goes back a step and shows it. Nothing is run.
func (c *Console) prev(context.Context, string) Outcome {
	if !c.touring("prev") {
		return Failed
	}
	if c.tour.at <= 1 {
		return c.fail("prev", errors.New("this is the first step"))
	}
	c.tour.at--
	c.show()
	return Done
}

// again runs the cell of the current step.
func (c *Console) again(ctx context.Context, _ string) Outcome {
	if !c.touring("again") {
		return Failed
	}
	step := c.tour.Steps[c.tour.at-1]
	switch {
	case step.Exercise != nil:
		return c.Cell(ctx, lessonCell(step.Exercise.Start))
	case step.Cell == nil:
		return Done
	}
	outcome := c.Cell(ctx, lessonCell(*step.Cell))
	if step.Cell.Fails && ctx.Err() == nil {
		return Done
	}
	return outcome
}

// show prints the text and the code of the current step.
func (c *Console) show() {
	t := c.tour
	step := t.Steps[t.at-1]
	parts := []string{fmt.Sprintf("── %s, step %d of %d ──", t.Name, t.at, len(t.Steps))}
	if step.Text != "" {
		parts = append(parts, step.Text)
	}
	if step.Cell != nil {
		parts = append(parts, indent(step.Cell.Code()))
	}
	if e := step.Exercise; e != nil {
		parts = append(parts, "## Exercise: "+e.Title, e.Task, indent(e.Start.Code()), ":check looks at your answer, :hint helps.")
	}
	c.Printer.Print(strings.Join(parts, "\n\n") + "\n")
}

func indent(code string) string { return "    " + strings.ReplaceAll(code, "\n", "\n    ") }

// exercise returns the last one up to the current step, or nil after saying that there is none.
func (c *Console) exercise(command string) *tutorial.Exercise {
	if !c.touring(command) {
		return nil
	}
	for at := c.tour.at; at > 0; at-- {
		if e := c.tour.Steps[at-1].Exercise; e != nil {
			return e
		}
	}
	c.fail(command, errors.New("there was no exercise yet; :next goes on"))
	return nil
}

// check runs the check of an exercise.
func (c *Console) check(ctx context.Context, _ string) Outcome {
	e := c.exercise("check")
	if e == nil {
		return Failed
	}
	cell := lessonCell(e.Check)
	cell.Silent = true
	if c.Cell(ctx, cell) != Done {
		return Failed
	}
	c.keep(func(r *tutorial.Reached) { r.Solve(e.Title) })
	return Done
}

// hint shows the next hint of an exercise, and after the last one its solution.
func (c *Console) hint(context.Context, string) Outcome {
	e := c.exercise("hint")
	if e == nil {
		return Failed
	}
	n := c.tour.hints
	switch {
	case n < len(e.Hints):
		more := "the next :hint shows the solution"
		if left := len(e.Hints) - n - 1; left > 0 {
			more = fmt.Sprintf("%d more", left)
		}
		c.Printer.Print(fmt.Sprintf("Hint %d (%s): %s", n+1, more, e.Hints[n]))
		c.tour.hints++
	default:
		c.Printer.Print("A solution; enter it, or your own after it:\n\n" + indent(e.Solution.Code()))
	}
	return Done
}

// where says which step is the current one, and what was solved.
func (c *Console) where(context.Context, string) Outcome {
	if c.tour == nil {
		return c.tutorials()
	}
	t := c.tour
	solved := tutorial.ReadProgress(statedir.Dir())[t.Name].Solved
	text := fmt.Sprintf("%s, step %d of %d: %s", t.Name, t.at, len(t.Steps), t.Title)
	for _, e := range t.Exercises() {
		state := "not solved yet"
		if slices.Contains(solved, e.Title) {
			state = "solved"
		}
		text += fmt.Sprintf("\nexercise %q: %s", e.Title, state)
	}
	c.Printer.Print(text)
	return Done
}

// keep changes what is kept of the tutorial.
func (c *Console) keep(change func(*tutorial.Reached)) {
	progress := tutorial.ReadProgress(statedir.Dir())
	reached := progress[c.tour.Name]
	change(&reached)
	progress[c.tour.Name] = reached
	if err := progress.Write(statedir.Dir()); err != nil {
		c.Printer.Note(nil, "how far you have come is not kept: %v", err)
	}
}
