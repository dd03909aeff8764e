package cli

import "context"

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
		o.program.Stdin = nil // it has been read
	}
	return withSession(ctx, o, func(opened *opened) (int, error) {
		ctx, stop := o.limited(ctx)
		defer stop()
		r, c := opened.request(s.text), opened.console()
		r.Name = s.name
		if s.files != nil {
			return programStatus(c, c.Program(ctx, r, s.files, s.line)), nil
		}
		return programStatus(c, c.File(ctx, r)), nil
	})
}
