package cli

import (
	"context"
	"io"
	"os"
)

// standardInput is the name of the file that is read from standard input.
const standardInput = "-"

// run runs symmrepl run FILE [ARG...].
func run(ctx context.Context, o options, args []string) (int, error) {
	if len(args) == 0 {
		return 0, misused("run needs one file, such as symmrepl run hello.go, and the arguments of its program")
	}
	name := args[0]
	text, err := readScript(name)
	if err != nil {
		return 0, misused("run: %v", err)
	}
	o.programArgs, o.program = args, newProgram()
	if name == standardInput {
		o.program.Stdin = nil // it has been read
	}
	return withSession(ctx, o, func(s *opened) (int, error) {
		r, c := s.request(string(text)), s.console()
		r.Name = name
		return programStatus(c, c.File(ctx, r)), nil
	})
}

// readScript returns the text of a script.
func readScript(name string) ([]byte, error) {
	if name == standardInput {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}
