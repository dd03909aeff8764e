package cli

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// learn runs symmrepl tutorial [NAME [STEP]].
func learn(ctx context.Context, o options, args []string) (int, error) {
	if o.list && len(args) > 0 {
		return 0, misused("tutorial --list takes no name: symmrepl tutorial %s begins that tutorial", args[0])
	}
	if len(args) == 0 {
		c := &console.Console{Commands: command.All(command.Programs{})} // the list needs no session
		return programStatus(c, c.Run(ctx, console.Request{Source: ":tutorial", Printer: printer(1)})), nil
	}
	if len(args) > 2 {
		return 0, misused("tutorial takes a name, such as symmrepl tutorial 01, and a step; %d words were given", len(args))
	}
	if _, err := tutorial.Find(args[0]); err != nil {
		return 0, misused("tutorial: %v", err)
	}
	entry := ":tutorial"
	for _, arg := range args {
		entry += " " + arg
	}
	o.prompt = term.Interactive()
	return withSession(ctx, o, func(s *opened) (int, error) { return front(ctx, o, s, entry) })
}
