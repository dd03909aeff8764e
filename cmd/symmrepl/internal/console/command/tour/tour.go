package tour

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/statedir"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/session"
)

// group is the heading that help shows the commands under.
const group = "tutorials"

// Tour is the open tutorial of a console. The zero Tour has none.
type Tour struct {
	lesson *tutorial.Lesson // nil: none is open
	at     int              // number of steps shown; the last one is the current step
	hints  int              // number of hints shown for the current exercise
}

// Restarted tells the user, after workers were replaced, how to run the tutorial's cells again.
func (t *Tour) Restarted(c *console.Call) {
	if t.lesson != nil {
		c.Note("`:tutorial %s %d` runs the cells before this step again", t.lesson.Name, max(t.at, 1))
	}
}

// ready reports whether a tutorial is open and its cells can run; if not, it prints why.
func (t *Tour) ready(c *console.Call) bool {
	switch {
	case t.lesson == nil:
		c.Fail(errors.New("no tutorial is open; :tutorial lists them"))
	case c.Console.Target() != nil:
		c.Fail(errors.New("tutorials are for all ranks; `:on all` goes back to them"))
	default:
		return true
	}
	return false
}

// step returns the current step.
func (t *Tour) step() tutorial.Step { return t.lesson.Steps[t.at-1] }

// show prints the text and the code of the current step.
func (t *Tour) show(c *console.Call) {
	step := t.step()
	parts := []string{fmt.Sprintf("── %s, step %d of %d ──", t.lesson.Name, t.at, len(t.lesson.Steps))}
	if step.Text != "" {
		parts = append(parts, render.Wrap(tutorial.Plain(step.Text), c.Request.Columns))
	}
	if step.Cell != nil {
		parts = append(parts, indent(step.Cell.Code()))
	}
	if e := step.Exercise; e != nil {
		parts = append(parts, "## Exercise: "+e.Title, render.Wrap(tutorial.Plain(e.Task), c.Request.Columns),
			indent(e.Start.Code()), ":check looks at your answer, :hint helps.")
	}
	c.Print(strings.Join(parts, "\n\n") + "\n")
}

func indent(code string) string { return "    " + strings.ReplaceAll(code, "\n", "\n    ") }

// exercise returns the last exercise up to the current step. If there is none, it prints that and
// returns nil.
func (t *Tour) exercise(c *console.Call) *tutorial.Exercise {
	if !t.ready(c) {
		return nil
	}
	for _, step := range slices.Backward(t.lesson.Steps[:t.at]) {
		if step.Exercise != nil {
			return step.Exercise
		}
	}
	c.Fail(errors.New("there was no exercise yet; :next goes on"))
	return nil
}

// solved returns the titles of the exercises that the user has solved.
func (t *Tour) solved() []string { return tutorial.ReadProgress(statedir.Dir())[t.lesson.Name].Solved }

// record changes the stored progress of the user.
func (t *Tour) record(c *console.Call, change func(*tutorial.Reached)) {
	progress := tutorial.ReadProgress(statedir.Dir())
	reached := progress[t.lesson.Name]
	change(&reached)
	progress[t.lesson.Name] = reached
	if err := progress.Write(statedir.Dir()); err != nil {
		c.Note("your progress cannot be saved: %v", err)
	}
}

// Solved records that an exercise is solved if source is the source of its check, which has
// succeeded. A notebook runs checks as ordinary cells. Progress that cannot be saved is lost:
// nobody has asked for it.
func Solved(source string) {
	name, title, ok := tutorial.SolvedBy(source)
	if !ok {
		return
	}
	progress := tutorial.ReadProgress(statedir.Dir())
	reached := progress[name]
	reached.Solve(title)
	progress[name] = reached
	_ = progress.Write(statedir.Dir())
}

// Told returns the errors of a cell as the user sees them: for the check of an exercise it shows
// only the text about the answer, without the position and the code, which repeat it.
func Told(source string, errs []*session.Error) []*session.Error {
	if _, _, ok := tutorial.SolvedBy(source); !ok {
		return errs
	}
	told := slices.Clone(errs)
	for i, e := range told {
		msg, says := strings.CutPrefix(e.Msg, "panic: ")
		if !says {
			continue
		}
		said := *e
		said.Msg, said.File, said.Line, said.Column, said.Source, said.Detail = msg, "", 0, 0, "", ""
		told[i] = &said
	}
	return told
}

// lessonCell returns a cell of a tutorial for the session, with its title, which is shown as its first
// line.
func lessonCell(cell tutorial.Cell) session.Cell {
	code := cell.Code()
	return session.Cell{Name: cell.File, Line: cell.Line - strings.Count(code, "\n") + strings.Count(cell.Source, "\n"), Source: code}
}
