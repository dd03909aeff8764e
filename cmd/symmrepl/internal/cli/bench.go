package cli

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/bench"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/opbench"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
)

// benchRanks is the default of -n for bench session and bench cell.
const benchRanks = 4

// benchHosts is the default of -n and --hosts for bench net.
const benchHosts = 2

// benchLoops is the default of -n for bench kernels: the threads of the loops beside it.
const benchLoops = 2

// runBench runs symmrepl bench.
func runBench(ctx context.Context, o options, args []string) (int, error) {
	if o.report != "" {
		if len(args) > 0 {
			return 0, misused("bench --report writes figures that were measured: leave out %s", strings.Join(args, " "))
		}
		return reportFigures(o.report)
	}
	if len(args) == 1 && args[0] == "session" {
		if o.ranks == 0 {
			o.ranks = benchRanks
		}
		start := func(ctx context.Context) (session.Session, error) {
			s, err := open(ctx, o)
			if s == nil {
				return nil, err
			}
			return s, err
		}
		return statusOK, bench.Session(ctx, start, stdout)
	}
	if len(args) == 1 && args[0] == "cell" {
		o.ranks = cmp.Or(o.ranks, benchRanks)
		start := func(ctx context.Context) (session.Session, bool, error) {
			s, err := open(ctx, o)
			if s == nil || err != nil {
				return nil, false, err
			}
			return s, !s.emulated, nil
		}
		return statusOK, bench.Cell(ctx, start, stdout)
	}
	if len(args) == 1 && args[0] == "kernels" {
		o.ranks = cmp.Or(o.ranks, benchLoops)
		return withSession(ctx, o, func(s *opened) (int, error) {
			if !s.emulated {
				return 0, misused("bench kernels measures the cpu device beside loops of C++: add --device cpu")
			}
			return statusOK, bench.Kernels(ctx, s, stdout)
		})
	}
	if len(args) == 1 && args[0] == "net" {
		if _, launched, _ := controller.FromEnviron(os.Environ()); !launched { // withSession reports an error
			o.ranks, o.hosts = cmp.Or(o.ranks, benchHosts), cmp.Or(o.hosts, os.Getenv(session.HostsVariable), strconv.Itoa(benchHosts))
		}
		return withSession(ctx, o, func(s *opened) (int, error) { return statusOK, bench.Network(ctx, s, stdout) })
	}
	if len(args) == 1 && args[0] == "load" {
		if len(o.sizes) > 1 || o.svg != "" {
			return 0, misused("bench load measures one tensor: give --sizes one size, and leave out --svg")
		}
		o.ranks = cmp.Or(o.ranks, 1)
		return withSession(ctx, o, func(s *opened) (int, error) {
			loading := bench.Loading{Peers: o.peers, JSON: o.json, CUDA: !s.emulated}
			for _, n := range o.sizes {
				loading.Size = n
			}
			return statusOK, bench.Load(ctx, s, loading, stdout)
		})
	}
	if opbench.DTypes[o.dtype] == 0 {
		return 0, misused("--dtype %s: %s can be measured", o.dtype, strings.Join(slices.Sorted(maps.Keys(opbench.DTypes)), ", "))
	}
	options := opbench.Options{Ops: args, Sizes: o.sizes, DType: o.dtype, Peers: o.peers, JSON: o.json, SVG: o.svg}
	measure := opbench.Run
	if len(args) == 1 && args[0] == "overlap" {
		if o.svg != "" {
			return 0, misused("--svg draws operations over their sizes, which overlap does not have")
		}
		measure = opbench.Overlap
	} else if len(args) == 1 && args[0] == "fsdp" {
		if o.svg != "" {
			return 0, misused("--svg draws operations over their sizes, and fsdp has a table")
		}
		measure = opbench.FSDP
	} else if len(args) == 1 && args[0] == "token_switch" {
		if o.svg != "" || len(o.sizes) > 0 || o.peers {
			return 0, misused("bench token_switch has sizes of its own and no peers: leave out --sizes, --svg and --peers")
		}
		measure = opbench.TokenSwitch
	} else if len(args) == 1 && args[0] == "tensors" {
		if o.svg != "" {
			return 0, misused("--svg draws operations over their sizes, and tensors has tables")
		}
		o.ranks = cmp.Or(o.ranks, 1)
		measure = opbench.Tensors
	} else {
		for _, name := range args {
			if !slices.Contains(opbench.Names(), name) {
				return 0, misused("bench: there is no %q; there are session, cell, kernels, net, load, overlap, fsdp, token_switch, tensors, %s", name, strings.Join(opbench.Names(), ", "))
			}
		}
		if o.svg != "" && len(args) > 0 && !slices.ContainsFunc(args, opbench.HasSizes) {
			return 0, misused("--svg draws operations over their sizes: name one that has sizes, not only %s", strings.Join(args, " and "))
		}
	}
	return withSession(ctx, o, func(s *opened) (int, error) {
		options.Emulated = s.emulated
		return statusOK, measure(ctx, s, s.size, options, stdout)
	})
}

// reportFigures writes the figures of a file as tables.
func reportFigures(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return statusOK, opbench.Report(f, stdout)
}
