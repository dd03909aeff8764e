package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/torchrun"
	"github.com/symmrepl/symmrepl/session"
)

// torchrunRanks is the number of ranks if neither -n nor --nproc-per-node gives it.
const torchrunRanks = 4

// pythonVariable names the interpreter: the Python package sets it to the one that it belongs to.
const pythonVariable = "SYMMREPL_PYTHON"

// runTorch runs symmrepl torchrun PROGRAM [ARG...].
func runTorch(ctx context.Context, o options, args []string) (int, error) {
	if len(args) == 0 {
		return 0, misused("torchrun needs a program of Python and its arguments, such as symmrepl torchrun -n 4 prog.py")
	}
	deadlock := cmp.Or(o.deadlock, os.Getenv(session.DeadlockVariable))
	_, err := session.ParseDeadlock(deadlock)
	if err != nil {
		return 0, misused("%s=%s: %v", session.DeadlockVariable, os.Getenv(session.DeadlockVariable), err)
	}
	command := []string{cmp.Or(os.Getenv(pythonVariable), "python3"), "-u"}
	if o.module {
		command = append(command, "-m")
	} else if _, err := os.Stat(args[0]); err != nil {
		return 0, misused("torchrun: %v", err)
	}
	p := torchrun.Program{Version: release, Name: filepath.Base(args[0]), Command: append(command, args...), Ranks: cmp.Or(o.ranks, torchrunRanks),
		Timeout: o.timeout, Deadlock: deadlock, Sanitize: o.sanitize}
	to := printer(p.Ranks)
	if o.json { // only findings go to standard output
		to = render.New(os.Stderr, os.Stderr, p.Ranks, false)
	}
	p.Emit = to.Output
	failed := false
	if o.sanitize {
		failed, err = sanitizeTorch(ctx, o, p, to)
	} else {
		var outcome torchrun.Outcome
		outcome, err = p.Run(ctx)
		failed = outcome.Failed
	}
	if failed {
		return statusFailed, err
	}
	return statusOK, err
}

// sanitizeTorch runs a program under the sanitizer, once for each order, and shows what it finds. An order
// in which the program fails is the last. A finding, too, is a failure, unless a comment allows it.
func sanitizeTorch(ctx context.Context, o options, p torchrun.Program, to *render.Printer) (failed bool, err error) {
	var all session.Findings
	var unseen []string
	orders := 0
	for orders < o.schedules && !failed {
		p.Seed = o.seed + int64(orders)
		outcome, err := p.Run(ctx)
		if err != nil {
			return false, err
		}
		if failed = outcome.Failed; ctx.Err() == nil {
			orders++
		}
		for _, f := range outcome.Findings {
			if all.Add(f) && !o.json {
				to.Finding(f)
			}
		}
		for _, what := range outcome.Unseen {
			if !slices.Contains(unseen, what) {
				unseen = append(unseen, what)
				to.Note(nil, "the sanitizer does not see accesses by %s", what)
			}
		}
	}
	if o.json {
		fmt.Fprint(stdout, render.FindingsJSON(all.List()))
	}
	to.Note(nil, "%s", summary(len(all.List()), orders))
	return failed || slices.ContainsFunc(all.List(), func(f session.Finding) bool { return f.Allowed == "" }), nil
}
