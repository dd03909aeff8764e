package cli

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command"
)

// traceScript runs symmrepl trace FILE [--out FILE]: it runs a script as symmrepl run does, and
// shows a timeline of all ranks.
func traceScript(ctx context.Context, o options, args []string) (int, error) {
	if len(args) > 0 && o.traceFile != "" && sameFile(args[0], o.traceFile) {
		return 0, misused("trace: --out %s would overwrite the script: give another name for the trace", o.traceFile)
	}
	return runScript(ctx, o, "trace", args, func(run runCells) runCells {
		return func(c *console.Console, ctx context.Context, r console.Request) console.Outcome {
			t, outcome, err := command.Traced(ctx, c, func() console.Outcome { return run(c, ctx, r) })
			if err == nil && o.traceFile != "" {
				err = command.WriteTrace(o.traceFile, t)
			}
			if err != nil {
				r.Printer.Fail("trace: %v", err)
				return console.Failed
			}
			if text := t.String(); text != "" {
				r.Printer.Print(text)
				if o.traceFile != "" {
					r.Printer.Note(nil, command.WroteTrace, o.traceFile)
				}
			} else {
				r.Printer.Note(nil, "the script called no operation on a device")
			}
			return outcome
		}
	})
}
