package console

import (
	"context"
	"errors"
	"os/exec"
	"syscall"

	"github.com/symmrepl/symmrepl/session"
)

// shell runs a line by the user's shell on the machine of this process, in the folder of `:cd`, with an empty standard input. It runs
// in a process group of its own, so that an interrupt ends all of it.
func (c *Console) shell(ctx context.Context, line string) Outcome {
	if line == "" {
		c.Printer.Fail("$: a shell command is expected, such as $ nvidia-smi")
		return Failed
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir = c.path(".")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdout = shellOutput{c, session.Stdout}
	cmd.Stderr = shellOutput{c, session.Stderr}
	err := cmd.Run()
	c.Printer.CloseLine()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		c.Printer.Fail("$: interrupted")
	case errors.As(err, &exit):
		c.Printer.Fail("$: %v", exit)
	case err != nil:
		c.Printer.Fail("$: %v", err)
	default:
		return Done
	}
	return Failed
}

// shellOutput prints without a prefix.
type shellOutput struct {
	c      *Console
	stream session.Stream
}

func (w shellOutput) Write(b []byte) (int, error) {
	w.c.Printer.Output(session.Output{Stream: w.stream, Text: string(b)})
	return len(b), nil
}
