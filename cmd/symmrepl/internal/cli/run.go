package cli

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// run runs symmrepl run FILE [ARG...].
func run(ctx context.Context, o options, args []string) (int, error) {
	return runScript(ctx, o, "run", args, func(run runCells) runCells { return run })
}

// runScript runs a script or a program for a subcommand. as wraps the function that runs it.
func runScript(ctx context.Context, o options, subcommand string, args []string, as func(runCells) runCells) (int, error) {
	if len(args) == 0 {
		return 0, misused("%[1]s needs one file, such as symmrepl %[1]s hello.go, or a folder, and the arguments of its program",
			subcommand)
	}
	s, programArgs, err := readScript(args)
	if err != nil {
		return 0, misused("%s: %v", subcommand, err)
	}
	o.programArgs, o.program = programArgs, newProgram()
	if s.name == standardInput {
		o.program.Stdin = nil // the script was read from it
	}
	return withSession(ctx, o, func(opened *opened) (int, error) {
		r := opened.request(s.text)
		r.Name = s.name
		return opened.program(ctx, o, r, as(func(c *console.Console, ctx context.Context, r console.Request) console.Outcome {
			if s.files != nil {
				return c.Program(ctx, r, s.files, s.line)
			}
			return c.File(ctx, r)
		}))
	})
}
