package tour

import (
	"context"
	"errors"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// Prev returns the row of `:prev`.
func (t *Tour) Prev() console.Command {
	return console.Command{
		Name: "prev", Group: group, Where: console.Here,
		Help: `show the step before again; nothing is run`,
		Run:  t.prev,
	}
}

func (t *Tour) prev(_ context.Context, c *console.Call) console.Outcome {
	if !t.ready(c) {
		return console.Failed
	}
	if t.at <= 1 {
		return c.Fail(errors.New("this is the first step"))
	}
	t.at--
	t.show(c)
	return console.Done
}
