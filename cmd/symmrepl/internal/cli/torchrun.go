package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/torchrun"
	"github.com/symmrepl/symmrepl/session"
)

// torchrunRanks is the number of ranks if neither -n nor --nproc-per-node gives it.
const torchrunRanks = 4

// runTorch runs symmrepl torchrun PROGRAM [ARG...].
func runTorch(ctx context.Context, o options, args []string) (int, error) {
	if len(args) == 0 {
		return 0, misused("torchrun needs a program of Python and its arguments, such as symmrepl torchrun -n 4 prog.py")
	}
	deadlock, err := session.ParseDeadlock(cmp.Or(o.deadlock, os.Getenv(session.DeadlockVariable)))
	if err != nil {
		return 0, misused("%s: %v", session.DeadlockVariable, err)
	}
	command := []string{cmp.Or(os.Getenv(pythonVariable), "python3"), "-u"}
	if o.module {
		command = append(command, "-m")
	} else if _, err := os.Stat(args[0]); err != nil {
		return 0, misused("torchrun: %v", err)
	}
	p := torchrun.Program{Name: filepath.Base(args[0]), Command: append(command, args...), Ranks: cmp.Or(o.ranks, torchrunRanks),
		Timeout: o.timeout, KeepWaits: deadlock == session.DeadlockWait}
	p.Emit = printer(p.Ranks).Output
	runtime.LockOSThread() // the kernel ends the ranks when the thread ends that has started them
	defer runtime.UnlockOSThread()
	return p.Run(ctx)
}

// pythonVariable names the interpreter: the Python package sets it to the one that it belongs to.
const pythonVariable = "SYMMREPL_PYTHON"
