package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/bench"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// doctor is symmrepl doctor.
func doctor(args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("doctor takes no arguments")
	}
	fmt.Print(symmem.Doctor())
	return statusOK, nil
}

// benchRanks is the default of -n in bench session.
const benchRanks = 4

// runBench is symmrepl bench session.
func runBench(ctx context.Context, o options, args []string) (int, error) {
	if len(args) != 1 || args[0] != "session" {
		return 0, misused("bench needs to be told what to measure: symmrepl bench session")
	}
	if o.ranks == 0 {
		o.ranks = benchRanks
	}
	err := bench.Session(ctx, func(ctx context.Context) (session.Session, error) { return open(ctx, o) }, os.Stdout)
	return statusOK, err
}
