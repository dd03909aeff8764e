package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/debugadapter"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
)

// serveDAP runs symmrepl dap: editors debug programs and sessions by the Debug Adapter Protocol.
func serveDAP(ctx context.Context, o options, args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("dap takes no arguments: the editor says which program it launches, or which session it attaches to")
	}
	if l, launched, err := controller.FromEnviron(os.Environ()); err == nil && launched {
		return 0, misused("dap starts the ranks of a program itself, but %s has started this process as one of several: unset RANK and WORLD_SIZE", l.Name)
	}
	if o.socket != "" && o.listen != "" {
		return 0, misused("--socket and --listen are two ways to wait for editors: give one of them")
	}
	server := debugadapter.Server{Launch: o.launchDAP, Attach: attachDAP}
	switch {
	case o.socket != "":
		if err := server.ListenAt(ctx, o.socket, func() { notice("editors of yours can debug at " + o.socket) }); err != nil {
			return 0, fmt.Errorf("--socket: %w", err)
		}
		return statusOK, nil
	case o.listen != "":
		var err error
		if server.Token, err = controller.Token(); err != nil {
			return 0, fmt.Errorf("--listen: any user of this machine could run code: %w", err)
		}
		ready := func(a net.Addr) { notice("editors that give the token can debug at " + a.String()) }
		if err := server.ListenPort(ctx, o.listen, ready); err != nil {
			return 0, fmt.Errorf("--listen: %w", err)
		}
		return statusOK, nil
	}
	return statusOK, server.Serve(ctx, os.Stdin, stdout)
}

// launchDAP starts a session for a program of a client. What the client leaves out is as on the
// command line.
func (o options) launchDAP(ctx context.Context, p debugadapter.Launch) (*debugadapter.Target, error) {
	var flags []string
	add := func(name, value string) {
		if value != "" {
			flags = append(flags, name+"="+value)
		}
	}
	add("--device", cmp.Or(p.Device, o.device))
	add("--backend", cmp.Or(p.Backend, o.backend))
	add("--hosts", cmp.Or(p.Hosts, o.hosts))
	if ranks := cmp.Or(p.Ranks, o.ranks); ranks != 0 {
		add("--ranks", fmt.Sprint(ranks))
	}
	checked, err := parse(flags)
	if err != nil {
		return nil, err
	}
	program, arguments, err := readScript(append([]string{p.Program}, p.Args...))
	if err != nil {
		return nil, err
	}
	if program.name == standardInput {
		return nil, errors.New("\"program\" is a file or a folder: standard input is the editor's")
	}
	checked.program, checked.programArgs = &session.Program{}, arguments
	s, err := open(ctx, checked)
	if err != nil {
		return nil, err
	}
	c := s.console()
	run := func(ctx context.Context, printer console.Printer) int {
		r := console.Request{Name: program.name, Source: program.text, Printer: printer, Stop: "the editor's button"}
		if program.files != nil {
			return programStatus(c, c.Program(ctx, r, program.files, program.line))
		}
		return programStatus(c, c.File(ctx, r))
	}
	return &debugadapter.Target{Console: c, Run: run, Close: s.Close}, nil
}

// attachDAP attaches a client to the running session of a folder, or to the only one.
func attachDAP(ctx context.Context, dir string) (*debugadapter.Target, error) {
	s, err := attachTo(ctx, dir, "\"session\": ")
	if err != nil {
		return nil, err
	}
	return &debugadapter.Target{Console: s.console(), Close: s.Close}, nil
}
