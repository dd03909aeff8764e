package command

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// go111module accepts a line with which notebooks of gophernotes may begin.
func go111module() console.Command {
	return console.Command{
		Name: "go111module", Args: "on|off", Group: program, Where: console.Here,
		Help: `do nothing: for notebooks of gophernotes
There, cells get modules from the network when this is on. Here they import the standard library and gonum, which are part of
this program.`,
		Run: func(_ context.Context, c *console.Call) console.Outcome {
			if c.Arg != "on" && c.Arg != "off" {
				return c.Fail(fmt.Errorf("on or off is expected, not %q", c.Arg))
			}
			c.Note("%%go111module does nothing here: cells import the packages of symmrepl, the standard library and gonum, and no other modules")
			return console.Done
		},
	}
}
