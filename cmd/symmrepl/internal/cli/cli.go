package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/script"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/worker"
	"github.com/symmrepl/symmrepl/session"
)

// Exit statuses.
const (
	statusOK      = 0
	statusFailed  = 1 // a cell failed
	statusUsage   = 2 // the command line is wrong
	statusStart   = 3 // the session could not start, or what was asked for could not be done
	statusSignals = 128
)

// usageError reports a wrong command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func misused(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// Main runs the program with arguments, without its name, and returns its exit status.
func Main(args []string) int {
	if session.IsWorker() {
		return session.ServeWorker(worker.Start)
	}
	o, err := parse(args)
	if err != nil {
		return report(misused("%v", err))
	}
	if o.help || len(o.args) > 0 && o.args[0] == "help" {
		fmt.Print(usage)
		return statusOK
	}
	if o.version {
		o.args = []string{"version"}
	}
	signals := &ending{}
	ctx, stop := signals.watch(o.serves())
	defer stop()
	status, err := dispatch(ctx, o)
	if err != nil {
		status = report(err)
	}
	if sig := signals.got(); sig != 0 {
		return statusSignals + int(sig)
	}
	return status
}

// report prints an error and returns the exit status for it.
func report(err error) int {
	for _, line := range reasons(err) {
		fmt.Fprintf(os.Stderr, "symmrepl: %s\n", line)
	}
	var wrong usageError
	if errors.As(err, &wrong) {
		fmt.Fprintln(os.Stderr, "          symmrepl --help explains the command line")
		return statusUsage
	}
	return statusStart
}

// reasons returns the lines of an error. Those that are the same on all ranks are returned once.
func reasons(err error) []string {
	var lines, bare []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			lines = append(lines, e.Error())
			if of := new(session.Error); errors.As(e, &of) {
				bare = append(bare, of.Error())
			}
		}
	}
	if same := slices.Compact(slices.Clone(bare)); len(same) == 1 && len(bare) == len(lines) {
		return same
	}
	if len(lines) > 0 {
		return lines
	}
	return []string{err.Error()}
}

// dispatch runs the subcommand. An error is one of the command line or of the session's start.
func dispatch(ctx context.Context, o options) (int, error) {
	name, args := "", o.args
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if o.hasCode && name != "" {
		return 0, misused("-e runs a cell and %s something else: give one of them", name)
	}
	if err := o.misplaced(); err != nil {
		return 0, err
	}
	switch name {
	case "":
		return interactive(ctx, o)
	case "run":
		return run(ctx, o, args)
	case "tutorial":
		return learn(ctx, o, args)
	case "attach":
		return attach(ctx, args)
	case "kernel":
		return kernel(ctx, o, args)
	case "doctor":
		return doctor(args)
	case "bench":
		return runBench(ctx, o, args)
	case "version":
		return version(args)
	}
	return 0, misused("there is no subcommand %q; there are run, tutorial, attach, kernel, doctor, bench and version%s", name, didYouMeanRun(name))
}

// didYouMeanRun returns a hint if the user gave a file instead of a subcommand.
func didYouMeanRun(name string) string {
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return fmt.Sprintf(". Did you mean symmrepl run %s?", name)
}

// interactive runs symmrepl without a subcommand: one cell, a prompt, or entries from a pipe.
func interactive(ctx context.Context, o options) (int, error) {
	return withSession(ctx, o, func(s *opened) (int, error) {
		if o.hasCode {
			return status(s.console().Cell(ctx, s.request(o.code))), nil
		}
		return front(ctx, s)
	})
}

// front runs the entries of first, and then those that the user enters at a prompt or through a pipe.
func front(ctx context.Context, s *opened, first ...string) (int, error) {
	c, r := s.console(), s.request("")
	switch {
	case term.Interactive():
		if err := s.greet(ctx, r.Printer); err != nil {
			return statusOK, err
		}
		for _, entry := range first {
			r.Source = entry
			c.Run(ctx, r)
		}
		return statusOK, term.Run(ctx, c, r, colour())
	case s.launched:
		return s.headless(ctx)
	}
	for _, entry := range first {
		r.Source = entry
		if outcome := c.Run(ctx, r); outcome != console.Done {
			return status(outcome), nil
		}
	}
	outcome, err := script.Pipe(ctx, c, r, os.Stdin)
	return status(outcome), err
}

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

// status returns the exit status for an outcome.
func status(outcome console.Outcome) int {
	if outcome == console.Failed {
		return statusFailed
	}
	return statusOK
}

// printer returns a printer to this program's output, with colours if all of it goes to a terminal.
func printer(size int) *render.Printer {
	p := render.New(os.Stdout, os.Stderr, size, colour())
	p.InPlace = render.IsTerminal(os.Stdout)
	return p
}

func colour() bool { return render.WantsColour(os.Stdout) && render.WantsColour(os.Stderr) }

// ending watches for the signals that end the program.
type ending struct{ signals chan os.Signal }

// watch returns a context that the first of SIGINT, SIGTERM and SIGHUP ends. A second one ends the program at
// once. SIGINT is not one of them if the program serves others.
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
