package tour

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/session"
)

// newConsole returns a console with the commands of a tour and without progress, and the buffer for
// its output.
func newConsole(t *testing.T) (*consoletest.Console, *consoletest.Session, *bytes.Buffer) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	tour := &Tour{}
	c := consoletest.New([]console.Command{
		tour.Tutorial(), tour.Next(), tour.Prev(), tour.Again(), tour.Check(), tour.Hint(), tour.Where(),
		{Name: "on", Run: func(_ context.Context, c *console.Call) console.Outcome {
			c.Console.SetTarget([]int{0})
			return console.Done
		}},
		{Name: "restarted", Run: func(_ context.Context, c *console.Call) console.Outcome { tour.Restarted(c); return console.Done }},
	})
	return c, c.Fake, c.Out
}

// enter runs an entry and reports an unexpected outcome or output.
func enter(t *testing.T, c *consoletest.Console, entry string, outcome console.Outcome, text string) {
	t.Helper()
	c.Out.Reset()
	if got := c.Run(t.Context(), entry); got != outcome || !strings.Contains(c.Out.String(), text) {
		t.Errorf("%s: outcome %v, want %v, and %q in\n%s", entry, got, outcome, text, c.Out)
	}
}

func TestNoTutorial(t *testing.T) {
	c, _, _ := newConsole(t)
	for _, name := range []string{"next", "prev", "again", "check", "hint"} {
		enter(t, c, ":"+name, console.Failed, ":"+name+": no tutorial is open; :tutorial lists them")
	}
	enter(t, c, ":where", console.Done, "01-hello-ranks")
	enter(t, c, ":tutorial", console.Done, "01-hello-ranks")
	enter(t, c, ":tutorial nosuch", console.Failed, ":tutorial: ")
	enter(t, c, ":tutorial 01 99", console.Failed, ":tutorial: a step from 1 to ")
	enter(t, c, ":restarted", console.Done, "")
	c.Size = 1
	enter(t, c, ":tutorial 01", console.Failed, ":tutorial: ranks that talk to each other are needed")
}

// Returning to an early step keeps the progress.
func TestEarlierStepKeepsProgress(t *testing.T) {
	c, _, _ := newConsole(t)
	enter(t, c, ":tutorial 01 3", console.Done, "step 3 of ")
	enter(t, c, ":tutorial 01 1", console.Done, "step 1 of ")
	enter(t, c, ":tutorial", console.Done, " 3 of ")
}

func TestSteps(t *testing.T) {
	lesson, err := tutorial.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	c, fake, _ := newConsole(t)
	enter(t, c, ":tutorial 01", console.Done, "── 01-hello-ranks, step 1 of ")
	enter(t, c, ":prev", console.Failed, ":prev: this is the first step")
	enter(t, c, ":hint", console.Failed, ":hint: there was no exercise yet")
	enter(t, c, ":next", console.Done, "── 01-hello-ranks, step 2 of ")
	enter(t, c, ":prev", console.Done, "── 01-hello-ranks, step 1 of ")
	enter(t, c, ":restarted", console.Done, "`:tutorial 01-hello-ranks 1` runs the cells before this step again")

	// In another session the tutorial goes on at the step where it was left, and runs the cells
	// before that step.
	enter(t, c, ":next", console.Done, "step 2 of ")
	cells := len(fake.Cells)
	enter(t, c, ":tutorial 01", console.Done, "Step 2 of ")
	if first := lesson.Steps[0].Cell; first != nil && (len(fake.Cells) < cells+1 || fake.Cells[cells].Source != first.Code()) {
		t.Errorf("evaluated %+v", fake.Cells[cells:])
	}
	enter(t, c, ":on", console.Done, "")
	enter(t, c, ":next", console.Failed, ":next: tutorials are for all ranks; `:on all` goes back to them")
}

func TestExercise(t *testing.T) {
	lesson, err := tutorial.Find("02")
	if err != nil {
		t.Fatal(err)
	}
	at, exercise := 0, (*tutorial.Exercise)(nil)
	for i, step := range lesson.Steps {
		if step.Exercise != nil {
			at, exercise = i+1, step.Exercise
		}
	}
	c, fake, _ := newConsole(t)
	enter(t, c, ":tutorial 02 1", console.Done, "step 1 of ")
	for range at - 1 {
		enter(t, c, ":next", console.Done, "step ")
	}
	if !strings.Contains(c.Out.String(), "## Exercise: "+exercise.Title) {
		t.Errorf("the step is\n%s", c.Out)
	}
	enter(t, c, ":again", console.Done, "")
	if got := fake.Cells[len(fake.Cells)-1].Source; got != exercise.Start.Code() {
		t.Errorf(":again ran %q", got)
	}
	for i, hint := range exercise.Hints {
		enter(t, c, ":hint", console.Done, hint)
		if last := i == len(exercise.Hints)-1; last != strings.Contains(c.Out.String(), "the next :hint shows the solution") {
			t.Errorf("hint %d: %s", i+1, c.Out)
		}
	}
	enter(t, c, ":hint", console.Done, "A solution; enter it, or your own after it:")
	fake.OnEval = func(session.Cell) session.Reply { return session.Reply{Errors: []*session.Error{{Msg: "not yet"}}} }
	enter(t, c, ":check", console.Failed, "not yet")
	enter(t, c, ":where", console.Done, "not solved yet")
	fake.OnEval = nil
	enter(t, c, ":check", console.Done, "")
	if last := fake.Cells[len(fake.Cells)-1]; last.Source != exercise.Check.Code() || !last.Silent {
		t.Errorf(":check ran %+v", last)
	}
	enter(t, c, ":where", console.Done, ": solved")
}

// If a cell before a step fails, no step is shown, and :again has nothing to run.
func TestCatchUpFails(t *testing.T) {
	c, fake, _ := newConsole(t)
	fake.OnEval = func(session.Cell) session.Reply { return session.Reply{Errors: []*session.Error{{Msg: "broken"}}} }
	enter(t, c, ":tutorial 02 6", console.Failed, "broken")
	enter(t, c, ":again", console.Failed, ":again: no step was shown yet; :next goes on")
}

// An exercise counts as solved when a cell with the source of its check has succeeded, as in a
// notebook, and not when it has failed.
func TestSolvedInANotebook(t *testing.T) {
	lesson, err := tutorial.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	c, fake, _ := newConsole(t)
	c.Succeeded = Solved
	check := lesson.Exercises()[0].Check.Source
	fake.OnEval = func(session.Cell) session.Reply { return session.Reply{Errors: []*session.Error{{Msg: "not yet"}}} }
	enter(t, c, check, console.Failed, "not yet")
	enter(t, c, ":tutorial", console.Done, "0 of 3  Hello, ranks")
	fake.OnEval = nil
	enter(t, c, "x := 1", console.Done, "")
	enter(t, c, ":tutorial", console.Done, "0 of 3  Hello, ranks")
	enter(t, c, check, console.Done, "")
	enter(t, c, ":tutorial", console.Done, "1 of 3  Hello, ranks")
}

// After the last step, the tour names an exercise that is not solved yet.
func TestAfterLastStep(t *testing.T) {
	c, _, _ := newConsole(t)
	lesson, err := tutorial.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	enter(t, c, fmt.Sprintf(":tutorial 01 %d", len(lesson.Steps)), console.Done, "step ")
	first := lesson.Exercises()[0]
	enter(t, c, ":next", console.Done, fmt.Sprintf("The exercise %q is not solved yet: `:tutorial 01-hello-ranks 5` goes back to it.", first.Title))
	for _, e := range lesson.Exercises() {
		Solved(e.Check.Source)
	}
	enter(t, c, ":next", console.Done, "This was the last step. :tutorial lists the others.")
}

// The error of a check is what it says of the answer, once; those of other cells stay.
func TestToldOfChecks(t *testing.T) {
	lesson, err := tutorial.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	exercise := lesson.Exercises()[0]
	panicked := &session.Error{Kind: session.KindPanic, Ranks: []int{0}, Msg: "panic: no", File: "a.go", Line: 2, Source: `panic("no")`}
	for source, want := range map[string]string{
		exercise.Check.Code(): "no", exercise.Check.Source: "no", exercise.Start.Code(): panicked.Error(), `panic("no")`: panicked.Error(),
	} {
		told := Told(source, []*session.Error{panicked})
		if len(told) != 1 || told[0].Error() != want || panicked.Line != 2 {
			t.Errorf("of the error in\n%s\n%v is told, want %s", source, told, want)
		}
	}
}

// A step's positions count the lines that are shown, the title among them.
func TestLinesOfSteps(t *testing.T) {
	lesson, err := tutorial.Find("16")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range lesson.Steps {
		if step.Cell != nil && lessonCell(*step.Cell).Source != step.Cell.Code() {
			t.Errorf("the step shows\n%s\nand runs\n%s", step.Cell.Code(), lessonCell(*step.Cell).Source)
		}
	}
}
