package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/mcp"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/opbench"
	"github.com/symmrepl/symmrepl/session/controller"
)

// serveMCP runs symmrepl mcp [DIR]: programs and agents use a session by the Model Context Protocol.
func serveMCP(ctx context.Context, o options, args []string) (int, error) {
	if len(args) > 1 {
		return 0, misused("mcp takes one session at most; %d were given", len(args))
	}
	if l, launched, err := controller.FromEnviron(os.Environ()); err == nil && launched && o.ranks != 0 {
		return 0, misused("mcp starts the ranks of its session itself, but %s has started this process as one of several: "+
			"leave out -n to attach, or unset RANK and WORLD_SIZE", l.Name)
	}
	s, err := o.openMCP(ctx, args)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	server := mcp.Server{Version: release, ReadOnly: o.readOnly, Console: s.console, Bench: s.benchMCP}
	if o.socket == "" {
		return statusOK, server.Serve(ctx, os.Stdin, stdout)
	}
	if err := server.Listen(ctx, o.socket, func() { notice("programs of yours can use the session at " + o.socket) }); err != nil {
		return 0, fmt.Errorf("--socket: %w", err)
	}
	return statusOK, nil
}

// openMCP starts a session if -n says so, and attaches to a running one otherwise.
func (o options) openMCP(ctx context.Context, args []string) (*opened, error) {
	if o.ranks != 0 {
		if len(args) > 0 {
			return nil, misused("mcp attaches to the session in %s, and -n starts another one: give one of them", args[0])
		}
		return open(ctx, o)
	}
	dir := ""
	if len(args) == 1 {
		dir = args[0]
	}
	s, err := attachTo(ctx, dir, "symmrepl mcp ")
	if err != nil {
		return nil, fmt.Errorf("%w; -n N starts one", err)
	}
	return s, nil
}

// benchMCP measures operations for a client.
func (s *opened) benchMCP(ctx context.Context, ops []string, sizes []int, dtype string, out io.Writer) error {
	dtype = cmp.Or(dtype, "bf16")
	if opbench.DTypes[dtype] == 0 {
		return fmt.Errorf("dtype %q: %s can be measured", dtype, strings.Join(slices.Sorted(maps.Keys(opbench.DTypes)), ", "))
	}
	for _, name := range ops {
		if !slices.Contains(opbench.Names(), name) {
			return fmt.Errorf("there is no operation %q; there are %s", name, strings.Join(opbench.Names(), ", "))
		}
	}
	for _, n := range sizes {
		if n < 1 || n > maxSize {
			return fmt.Errorf("size %d: bytes from 1 to %d are expected", n, maxSize)
		}
	}
	return opbench.Run(ctx, s, s.size, opbench.Options{Ops: ops, Sizes: sizes, DType: dtype, JSON: true, Emulated: s.emulated}, out)
}
