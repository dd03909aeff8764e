package tour

import (
	"context"
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// Where returns the row of `:where`.
func (t *Tour) Where() console.Command {
	return console.Command{
		Name: "where", Group: group, Where: console.Here,
		Help: `show which step of the tutorial this is, and which exercises are solved`,
		Run:  t.where,
	}
}

func (t *Tour) where(_ context.Context, c *console.Call) console.Outcome {
	if t.lesson == nil {
		return list(c)
	}
	text := fmt.Sprintf("%s, step %d of %d: %s", t.lesson.Name, t.at, len(t.lesson.Steps), t.lesson.Title)
	solved := t.solved()
	for _, e := range t.lesson.Exercises() {
		state := "not solved yet"
		if slices.Contains(solved, e.Title) {
			state = "solved"
		}
		text += fmt.Sprintf("\nexercise %q: %s", e.Title, state)
	}
	c.Print(render.Fit(text, c.Request.Columns))
	return console.Done
}
