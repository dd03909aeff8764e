package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	_ "github.com/symmrepl/symmrepl/cmd/symmrepl/internal/addressroom" // before anything else runs
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/rank"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/worker"
)

// Main runs the program with arguments, without its name, and returns its exit status.
func Main(args []string) int {
	if worker.Is() {
		return worker.Serve(rank.Start)
	}
	return stdout.delivered(runLine(args))
}

// runLine runs a command line and returns its exit status.
func runLine(args []string) int {
	o, err := parse(args)
	if err != nil {
		return report(misused("%v", err))
	}
	if o.help || len(o.args) > 0 && o.args[0] == "help" {
		fmt.Fprint(stdout, usage())
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
		explain("symmrepl: " + render.Plain(line))
	}
	var wrong usageError
	if errors.As(err, &wrong) {
		explain("          symmrepl --help explains the command line")
		return statusUsage
	}
	return statusStart
}

// explain writes a line to standard error, broken between words to fit its terminal.
func explain(line string) {
	fmt.Fprintln(os.Stderr, render.Fit(line, term.ColumnsOf(os.Stderr)))
}

// reasons returns the lines of an error. It returns lines of several ranks that are equal once.
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
