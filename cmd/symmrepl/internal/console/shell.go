package console

import (
	"context"
	"errors"
	"os/exec"
	"syscall"

	"github.com/symmrepl/symmrepl/session"
)

// shell runs a line with the user's shell on the machine of this process, in the folder of `:cd`,
// with an empty standard input. The process group is new, so that an interrupt ends all of it.
func (c *Console) shell(ctx context.Context, p Printer, line string) Outcome {
	if line == "" {
		p.Fail("$: a shell command is expected, such as $ nvidia-smi")
		return Failed
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir = c.Path(".")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdout = shellOutput{p, session.Stdout}
	cmd.Stderr = shellOutput{p, session.Stderr}
	err := cmd.Run()
	p.CloseLine()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		p.Fail("$: interrupted")
	case errors.As(err, &exit):
		p.Fail("$: %v", exit)
	case err != nil:
		p.Fail("$: %v", err)
	default:
		return Done
	}
	return Failed
}

// shellOutput prints without a prefix.
type shellOutput struct {
	p      Printer
	stream session.Stream
}

func (w shellOutput) Write(b []byte) (int, error) {
	w.p.Output(session.Output{Stream: w.stream, Text: string(b)})
	return len(b), nil
}
