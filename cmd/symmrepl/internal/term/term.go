package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/chzyer/readline"
	"golang.org/x/term"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// Interactive reports whether this process can show a prompt: its standard input is a terminal, and its
// standard output or standard error is.
func Interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && screen() != nil
}

// screen returns the terminal that the prompt is written to, or nil.
func screen() *os.File {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if term.IsTerminal(int(f.Fd())) {
			return f
		}
	}
	return nil
}

// prompt is the state of Run.
type prompt struct {
	console *console.Console
	request console.Request // for the next entry; it lacks the source
	colour  bool            // paint what is typed
	keys    *keys
	lines   *console.Assembler
	editor  *readline.Instance
}

// Run shows the prompt and runs what is entered, until the user leaves or ctx is done. Each entry is the source of a
// request like r; its cells read standard input from the terminal. With colour, what is typed is painted. The terminal is
// left as it was found.
func Run(ctx context.Context, c *console.Console, r console.Request, colour bool) error {
	p := &prompt{console: c, request: r, colour: colour, keys: newKeys(os.Stdin), lines: c.Assembler()}
	defer context.AfterFunc(ctx, func() { p.keys.Close() })()
	p.request.Input = p.input

	var raw readline.RawMode
	if err := raw.Enter(); err != nil {
		return fmt.Errorf("the terminal cannot be set up: %w", err)
	}
	defer raw.Exit()

	history := historyFile()
	editor, err := readline.NewEx(&readline.Config{
		Stdin:               p.keys,
		Stdout:              screen(),
		Stderr:              screen(),
		HistoryFile:         history,
		HistoryLimit:        historyLimit,
		AutoComplete:        completer{p},
		Painter:             painter{p},
		ForceUseInteractive: true,
		FuncGetWidth:        width,
		FuncOnWidthChanged:  onWidthChanged(ctx),
		FuncMakeRaw:         func() error { return nil },
		FuncExitRaw:         func() error { return nil },
	})
	if err != nil {
		return fmt.Errorf("the line editor cannot start: %w", err)
	}
	if history != "" {
		// The editor shortens the file by writing a new one.
		os.Chmod(history, 0o600)
	}
	p.editor = editor
	defer func() {
		p.keys.Close()
		editor.Close()
	}()

	io.WriteString(screen(), "\x1b[?2004h")
	defer io.WriteString(screen(), "\x1b[?2004l")
	return p.loop(ctx)
}

func (p *prompt) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		p.editor.SetPrompt(p.text())
		line, err := p.editor.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			p.lines.Reset()
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the terminal cannot be read: %w", err)
		}
		if entry, complete := p.lines.Add(line, !p.keys.pasting()); complete {
			if p.run(ctx, entry) == console.Quit {
				return nil
			}
		}
	}
	return nil
}

// run runs an entry, with Ctrl-C as its interrupt.
func (p *prompt) run(ctx context.Context, entry string) console.Outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.keys.running((&interrupter{session: p.console.Session, printer: p.request.Printer, cancel: cancel}).press)
	defer p.keys.idle()
	r := p.request
	r.Source = entry
	return p.console.Run(ctx, r)
}

// text returns the prompt: it shows the ranks of `:on`, and dots while an entry continues.
func (p *prompt) text() string {
	text := "symm> "
	if ranks := p.console.Target(); ranks != nil {
		text = "symm[" + session.FormatRanks(ranks) + "]> "
	}
	if p.lines.Pending() != "" {
		text = strings.Repeat(" ", len(text)-len("... ")) + "... "
	}
	return text
}

// width returns the columns of the terminal, 80 if they are not known.
func width() int {
	if columns, _, err := term.GetSize(int(screen().Fd())); err == nil && columns > 0 {
		return columns
	}
	return 80
}

// onWidthChanged polls the width: a process that is not in the terminal's session, as
// under torchrun, gets no signal.
func onWidthChanged(ctx context.Context) func(func()) {
	return func(changed func()) {
		go func() {
			tick := time.NewTicker(250 * time.Millisecond)
			defer tick.Stop()
			for last := width(); ; {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				if now := width(); now != last {
					last = now
					changed()
				}
			}
		}()
	}
}
