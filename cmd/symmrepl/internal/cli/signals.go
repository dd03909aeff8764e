package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// ending watches for the signals that end the program.
type ending struct{ signals chan os.Signal }

// watch returns a context that the first of SIGINT, SIGTERM and SIGHUP ends. A second signal ends
// the program at once. SIGINT does not count if the program serves others.
func (e *ending) watch(serves bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	e.signals = make(chan os.Signal, 1)
	relay := make(chan os.Signal, 1)
	signal.Notify(relay, syscall.SIGTERM, syscall.SIGHUP)
	if !serves {
		signal.Notify(relay, syscall.SIGINT)
	}
	go func() {
		select {
		case sig := <-relay:
			e.signals <- sig
			signal.Stop(relay)
			cancel()
		case <-ctx.Done():
			signal.Stop(relay)
		}
	}()
	return ctx, cancel
}

// got returns the signal that ended the context, or 0.
func (e *ending) got() syscall.Signal {
	select {
	case sig := <-e.signals:
		return sig.(syscall.Signal)
	default:
		return 0
	}
}
