package term

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
)

// edit opens a text in the user's editor, to which it lends the terminal, and returns the text that
// the editor saved.
func (p *prompt) edit(ctx context.Context, source string) (string, error) {
	line, err := editor()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "symmrepl-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "cell.go")
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		return "", err
	}
	if err := p.leaveTerminal(func() error { return foreground(ctx, line, name) }); err != nil {
		return "", fmt.Errorf("%s: %w", line, err)
	}
	text, err := wholefile.Read(name, "a cell", session.MaxSource)
	if err != nil {
		return "", fmt.Errorf("%s has left nothing: %w", line, err)
	}
	return string(text), nil
}

// editCell is edit, and adds the saved text to the history.
func (p *prompt) editCell(ctx context.Context, source string) (string, error) {
	edited, err := p.edit(ctx, source)
	if err == nil && edited != source {
		p.history.add(edited)
		p.history.give(p.editor)
	}
	return edited, err
}

// editors are tried in this order when the environment names none.
var editors = []string{"vi", "nano", "ed"}

// editor returns the user's editor, a command line of the shell.
func editor() (string, error) {
	if line := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")); line != "" {
		return line, nil
	}
	for _, name := range editors {
		if _, err := exec.LookPath(name); err == nil {
			return name, nil
		}
	}
	return "", errors.New("no editor is found: set EDITOR to one, such as EDITOR=vi")
}

// leaveTerminal calls f with the terminal as this program found it, and then sets the terminal up
// for the prompt again.
func (p *prompt) leaveTerminal(f func() error) error {
	fd := int(os.Stdin.Fd())
	raw, err := term.GetState(fd)
	if err != nil {
		return err
	}
	p.terminal.lend()
	defer p.terminal.takeBack()
	io.WriteString(screen(), pasteOff)
	defer io.WriteString(screen(), pasteOn)
	if err := term.Restore(fd, p.found); err != nil {
		return err
	}
	defer term.Restore(fd, raw)
	return f()
}

// closeWithin is the time that an editor has to end when the session does.
const closeWithin = 2 * time.Second

// foreground runs the editor's command line on a file, in a process group of its own that is the
// terminal's foreground: signals of keys reach the editor, but neither this process nor the ranks.
// A suspended editor continues at once, as there is no shell to continue it.
func foreground(ctx context.Context, line, file string) error {
	// SIGTTOU would stop this process when it takes the terminal back. The editor's process
	// inherits that it is ignored, which concerns only its output as a background job.
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)

	fd := int(os.Stdin.Fd())
	// the shell outlives signals that the editor handles
	cmd := exec.Command("/bin/sh", "-c", "trap : INT QUIT HUP; "+line+` "$@"`, line, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, screen(), screen()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	owned := err == nil && group == unix.Getpgrp() // not under a launcher that keeps the terminal for itself
	if owned {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, fd
		defer unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, group)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	cmd.Process.Release()

	ended := make(chan struct{})
	defer close(ended)
	defer context.AfterFunc(ctx, func() {
		syscall.Kill(-pid, syscall.SIGHUP)
		syscall.Kill(-pid, syscall.SIGCONT)
		select {
		case <-ended:
		case <-time.After(closeWithin):
		}
		syscall.Kill(-pid, syscall.SIGKILL)
	})()

	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err == syscall.EINTR {
			continue
		} else if err != nil {
			return err
		}
		switch {
		case status.Stopped():
			if owned {
				unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, pid)
			}
			syscall.Kill(-pid, syscall.SIGCONT)
		case status.Signaled():
			return fmt.Errorf("it was ended by a signal: %v", status.Signal())
		case status.ExitStatus() != 0:
			return fmt.Errorf("it ended with status %d", status.ExitStatus())
		default:
			return nil
		}
	}
}
