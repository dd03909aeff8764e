package cli

import (
	"os"
	"os/exec"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command/tour"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/interp/check"
)

// console returns a console on the session.
func (s *opened) console() *console.Console {
	c := &console.Console{
		Session: s, Size: s.size, Commands: command.All(programs()), Incomplete: check.Incomplete, Invalid: check.Invalid,
		Succeeded: tour.Solved, Told: tour.Told,
	}
	if !s.emulated {
		c.Unwatched = onGPUs(exec.LookPath)
	}
	if s.shadow == nil {
		s.shadow = s.newShadow()
	}
	c.Shadow = s.shadow
	return c
}

// request returns a request that prints to this program's output.
func (s *opened) request(source string) console.Request {
	return console.Request{Source: source, Printer: printer(s.size)}
}

// printer returns a printer to this program's output, with colours if all of it goes to a terminal.
func printer(size int) *render.Printer {
	p := render.New(stdout, os.Stderr, size, colour())
	p.InPlace = render.IsTerminal(os.Stdout)
	p.NotesInPlace = p.InPlace && render.IsTerminal(os.Stderr)
	if term.ColumnsOf(os.Stderr) > 0 {
		p.Columns = term.Columns
	}
	return p
}

func colour() bool { return render.WantsColour(os.Stdout) && render.WantsColour(os.Stderr) }
