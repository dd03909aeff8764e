package consoletest

import (
	"bytes"
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// Console is a console of four ranks on a fake session.
type Console struct {
	*console.Console
	Fake    *Session
	Out     *bytes.Buffer // the console's output
	printer *render.Printer
}

// New makes a console with commands. Its cells are incomplete while a brace is open, and invalid if
// they have the word mistake or close a brace that is not open.
func New(commands []console.Command) *Console {
	fake, out := &Session{}, &bytes.Buffer{}
	return &Console{
		Console: &console.Console{
			Session:  fake,
			Size:     4,
			Commands: commands,
			Incomplete: func(source string) bool {
				return strings.Count(source, "{") > strings.Count(source, "}") && !mistaken(source)
			},
			Invalid: mistaken,
		},
		Fake: fake, Out: out, printer: render.New(out, out, 4, false),
	}
}

// Request returns a request that prints to Out.
func (c *Console) Request(source string) console.Request {
	return console.Request{Source: source, Printer: c.printer}
}

// Run runs an entry.
func (c *Console) Run(ctx context.Context, entry string) console.Outcome {
	return c.Console.Run(ctx, c.Request(entry))
}

func mistaken(source string) bool {
	return strings.Contains(source, "mistake") || strings.Count(source, "{") < strings.Count(source, "}")
}
