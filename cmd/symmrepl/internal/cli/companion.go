package cli

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/companion"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/torchrun"
	"github.com/symmrepl/symmrepl/session"
)

// accompany runs symmrepl companion: a program of Python whose processes are the ranks gets its
// kernels compiled, and its ranks watched, by messages on standard input and output.
func accompany(ctx context.Context, _ options, args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("companion takes no arguments: a program sends requests on standard input")
	}
	watch, stop := watching(ctx)
	defer stop()
	return statusOK, companion.Serve(ctx, release, os.Stdin, stdout, watch)
}

// watching returns a function that begins to watch a program, and one that ends what it has begun.
func watching(ctx context.Context) (watch func(companion.Program) (string, error), stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var begun sync.WaitGroup
	watch = func(p companion.Program) (string, error) {
		if p.Ranks < 1 || p.Ranks > maxRanks {
			return "", fmt.Errorf("a program of %d ranks cannot be watched: a number from 1 to %d is expected", p.Ranks, maxRanks)
		}
		if _, err := session.ParseDeadlock(p.Deadlock); err != nil {
			return "", fmt.Errorf("deadlock is %q: %w", p.Deadlock, err)
		}
		to := render.New(os.Stderr, os.Stderr, p.Ranks, false)
		program := torchrun.Program{Name: p.Name, Ranks: p.Ranks, Deadlock: p.Deadlock, Emit: to.Output}
		socket, ended, err := program.Watch(ctx)
		if err == nil {
			begun.Go(func() { <-ended })
		}
		return socket, err
	}
	return watch, func() {
		cancel()
		begun.Wait()
	}
}
