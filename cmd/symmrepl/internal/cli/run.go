package cli

import (
	"context"
	"os"
)

// run runs symmrepl run FILE.
func run(ctx context.Context, o options, args []string) (int, error) {
	if len(args) != 1 {
		return 0, misused("run needs one file, such as symmrepl run hello.go; %d were given", len(args))
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return 0, misused("run: %v", err)
	}
	return withSession(ctx, o, func(s *opened) (int, error) {
		r := s.request(string(text))
		r.Name = args[0]
		return status(s.console().File(ctx, r)), nil
	})
}
