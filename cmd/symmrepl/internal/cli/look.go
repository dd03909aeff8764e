package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/bench"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/opbench"
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

// benchSizes are the messages that bench one_shot_all_reduce measures, in bytes, if --sizes does not say.
var benchSizes = []int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}

// runBench is symmrepl bench.
func runBench(ctx context.Context, o options, args []string) (int, error) {
	if len(args) == 1 && args[0] == "session" {
		if o.ranks == 0 {
			o.ranks = benchRanks
		}
		return statusOK, bench.Session(ctx, func(ctx context.Context) (session.Session, error) {
			s, err := open(ctx, o)
			if s == nil {
				return nil, err
			}
			return s, err
		}, os.Stdout)
	}
	if len(args) != 1 || args[0] != "one_shot_all_reduce" {
		return 0, misused("bench needs to be told what to measure: session or one_shot_all_reduce")
	}
	if len(o.sizes) == 0 {
		o.sizes = benchSizes
	}
	return withSession(ctx, o, func(s *opened) (int, error) {
		return statusOK, opbench.Run(ctx, s, s.size, opbench.Options{Sizes: o.sizes, Peers: o.peers}, os.Stdout)
	})
}
