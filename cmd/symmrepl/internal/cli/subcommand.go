package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// subcommand is a row of the table of subcommands.
type subcommand struct {
	name string
	run  func(ctx context.Context, o options, args []string) (status int, err error)
}

// subcommands returns all subcommands, in the order in which messages name them.
func subcommands() []subcommand {
	return []subcommand{
		{"run", run},
		{"trace", traceScript},
		{"check", checkCases},
		{"export", exportFile},
		{"tutorial", learn},
		{"lab", lab},
		{"attach", attach},
		{"kernel", kernel},
		{"serve", serveProgram},
		{"torchrun", runTorch},
		{"companion", accompany},
		{"mcp", serveMCP},
		{"dap", serveDAP},
		{"doctor", doctor},
		{"bench", runBench},
		{"completion", completion},
		{"man", printMan},
		{"version", version},
	}
}

// dispatch runs the subcommand. Its error is a wrong command line or a failed start.
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
	if name == "" {
		return interactive(ctx, o)
	}
	var names []string
	for _, sub := range subcommands() {
		if sub.name == name {
			return sub.run(ctx, o, args)
		}
		names = append(names, sub.name)
	}
	last := len(names) - 1
	return 0, misused("there is no subcommand %q; there are %s and %s%s", name, strings.Join(names[:last], ", "), names[last],
		didYouMeanRun(name))
}

// didYouMeanRun returns a hint if the user gave a file instead of a subcommand.
func didYouMeanRun(name string) string {
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return fmt.Sprintf(". Did you mean symmrepl run %s?", name)
}
