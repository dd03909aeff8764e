package cli

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// run runs symmrepl run FILE [ARG...].
func run(ctx context.Context, o options, args []string) (int, error) {
	if len(args) == 0 {
		return 0, misused("run needs one file, such as symmrepl run hello.go, or a folder, and the arguments of its program")
	}
	s, programArgs, err := readScript(args)
	if err != nil {
		return 0, misused("run: %v", err)
	}
	o.programArgs, o.program = programArgs, newProgram()
	if s.name == standardInput {
		o.program.Stdin = nil // the script was read from it
	}
	return withSession(ctx, o, func(opened *opened) (int, error) {
		r := opened.request(s.text)
		r.Name = s.name
		return opened.program(ctx, o, r, func(c *console.Console, ctx context.Context, r console.Request) console.Outcome {
			if s.files != nil {
				return c.Program(ctx, r, s.files, s.line)
			}
			return c.File(ctx, r)
		})
	})
}
