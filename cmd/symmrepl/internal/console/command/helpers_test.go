package command

import (
	"bytes"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
)

// newConsole returns a console with all commands on a fake session, and the buffer for its output.
func newConsole() (*consoletest.Console, *consoletest.Session, *bytes.Buffer) {
	c := consoletest.New(All(Programs{}))
	return c, c.Fake, c.Out
}
