package cli

import (
	"context"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/serve"
	"github.com/symmrepl/symmrepl/session/controller"
)

// serveProgram runs symmrepl serve: another program holds the session, by messages on standard input
// and output.
func serveProgram(ctx context.Context, o options, args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("serve takes no arguments: a program sends requests on standard input")
	}
	if l, launched, err := controller.FromEnviron(os.Environ()); err == nil && launched && !o.attach {
		return 0, misused("serve starts the ranks of its session itself, but %s has started this process as one of several: use serve --attach, or unset RANK and WORLD_SIZE", l.Name)
	}
	s, err := openServed(ctx, o)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return statusOK, serve.Server{Console: s.console(), Version: release, Attached: s.dir, In: os.Stdin, Out: stdout}.Run(ctx)
}

// openServed starts a session, or attaches to a running one.
func openServed(ctx context.Context, o options) (*opened, error) {
	if o.attach {
		return attachTo(ctx, o.attachDir, "symmrepl serve --attach=")
	}
	return open(ctx, o)
}
