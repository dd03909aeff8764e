package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jupyter"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// kernel runs symmrepl kernel install and symmrepl kernel run FILE.
func kernel(ctx context.Context, o options, args []string) (int, error) {
	switch {
	case len(args) == 1 && args[0] == "install":
		return installKernel(o)
	case len(args) == 2 && args[0] == "run":
		return runKernel(ctx, o, args[1])
	}
	return 0, misused("kernel needs a subcommand: install, or run CONNECTION_FILE, as Jupyter does")
}

func installKernel(o options) (int, error) {
	if o.user && o.prefix != "" {
		return 0, misused("--user and --prefix name two places: give one of them")
	}
	if o.name != "" && !jupyter.ValidName(o.name) {
		return 0, misused("a kernel cannot be called %q: letters, digits, '.', '_' and '-' may be used", o.name)
	}
	if o.ranks != 0 && o.hosts != "" {
		if _, err := o.simulated(o.ranks); err != nil {
			return 0, err
		}
	}
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	spec := jupyter.Spec{Name: o.name, Display: o.kernelName(),
		Argv: append([]string{program, "kernel", "run"}, o.kernelFlags()...), Version: release}
	dir, err := spec.Install(o.prefix)
	if err != nil {
		return 0, err
	}
	fmt.Fprintln(stdout, dir)
	return statusOK, nil
}

// kernelName returns the name that front ends show for the kernel.
func (o options) kernelName() string {
	switch {
	case o.attach:
		return "symmrepl (attached)"
	}
	var said []string
	if o.ranks != 0 {
		said = append(said, session.FormatSize(o.ranks))
	}
	if o.hosts != "" {
		said = append(said, "hosts "+o.hosts)
	}
	if o.device != "auto" {
		said = append(said, o.device)
	}
	if said == nil {
		return "symmrepl"
	}
	return "symmrepl (" + strings.Join(said, ", ") + ")"
}

// kernelFlags returns the flags for starting the kernel.
func (o options) kernelFlags() []string {
	var flags []string
	if o.attach {
		flag := "--attach"
		if o.attachDir != "" {
			flag += "=" + o.attachDir
		}
		flags = append(flags, flag)
	}
	if o.ranks != 0 {
		flags = append(flags, "--ranks", strconv.Itoa(o.ranks))
	}
	if o.device != "auto" {
		flags = append(flags, "--device", o.device)
	}
	if o.backend != "" {
		flags = append(flags, "--backend", o.backend)
	}
	if o.hosts != "" {
		flags = append(flags, "--hosts", o.hosts)
	}
	if o.network != "" {
		flags = append(flags, "--net", o.network)
	}
	return flags
}

// runKernel serves the front ends of a connection file on a new session, or with --attach on a
// running one.
func runKernel(ctx context.Context, o options, file string) (int, error) {
	k, err := jupyter.Listen(file, release)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if os.Getenv(parentVariable) != "" {
		defer leaveWithParent(cancel)()
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	go func() {
		for range interrupts {
			k.Interrupt()
		}
	}()
	var mu sync.Mutex // guards s and o
	var s *opened
	k.Serve(ctx, func(ctx context.Context, flags []string) (c *console.Console, remark string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		next := o
		if flags != nil {
			if next, err = o.changed(flags); err != nil {
				return nil, "", jupyter.Kept{Err: err}
			}
		}
		if s != nil {
			s.Close()
			s = nil
		}
		if s, err = openFor(ctx, next); err != nil {
			return nil, "", err
		}
		o = next
		if s.attached {
			remark = s.attachedTo()
		}
		return s.console(), remark, nil
	})
	mu.Lock()
	defer mu.Unlock()
	if s != nil {
		s.Close()
	}
	return statusOK, nil
}

// changed returns the options of a kernel's next session: the flags of a ":restart" in place of o's. It
// refuses flags by which no session can start.
func (o options) changed(words []string) (options, error) {
	if o.attach {
		return o, errors.New("this kernel uses a session that it has not started: choose the number of ranks there")
	}
	flags := flag.NewFlagSet("restart", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, f := range o.flags() {
		if f.session {
			f.add(flags)
		}
	}
	if err := flags.Parse(words); err != nil {
		return o, fmt.Errorf("%w (a session takes -n, --hosts, --net, --device and --backend)", tidy(err))
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag: such as :restart -n 4 --hosts 2 --net null", flags.Arg(0))
	}
	if err := o.checkNames(); err != nil {
		return o, err
	}
	_, device, _, err := o.place()
	if err != nil {
		return o, err
	}
	own := slices.DeleteFunc((symmem.DeviceKind{Name: device}).Backends(), func(b symmem.BackendStatus) bool { return b.Device != device })
	if len(own) > 0 && !slices.ContainsFunc(own, func(b symmem.BackendStatus) bool { return b.Available }) {
		return o, fmt.Errorf("--device %s: %s (%s)", device, own[0].Why, own[0].Hint)
	}
	return o, nil
}

// openFor opens the session of a kernel.
func openFor(ctx context.Context, o options) (*opened, error) {
	if o.attach {
		return attachTo(ctx, o.attachDir, "symmrepl kernel install --attach=")
	}
	s, err := open(ctx, o)
	if s == nil && err == nil {
		err = misused("a kernel is started by Jupyter, not for each rank by a launcher")
	}
	return s, err
}

// parentVariable is set by Jupyter to its process id.
const parentVariable = "JPY_PARENT_PID"

// serves reports whether another program holds the session, which then passes interrupts on: an
// interrupt does not end this program.
func (o options) serves() bool {
	return len(o.args) > 0 && (o.args[0] == "kernel" || o.args[0] == "serve")
}
