package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
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
	console  *console.Console
	request  console.Request // for the next entry; it lacks the source
	colour   bool            // paint what is typed
	terminal *lendable
	found    *term.State // of the terminal, before the prompt set it up
	keys     *keys
	lines    *console.Assembler
	editor   *readline.Instance
	guard    *guard
	history  *history
	ends     bool // the session ends with the prompt
	warned   bool // the user was asked whether to leave, and has entered nothing since
}

// Options are the differences between prompts.
type Options struct {
	Colour bool // paint what is typed
	Ends   bool // the session ends with the prompt: ask before the user leaves tensors behind
}

// Run shows the prompt and runs the entries, until the user leaves or ctx is done. Each entry is
// the source of a request like r; its cells read standard input from the terminal. Run restores the
// terminal's state.
func Run(ctx context.Context, c *console.Console, r console.Request, o Options) error {
	found, err := term.GetState(int(os.Stdin.Fd()))
	if err != nil {
		return fmt.Errorf("the terminal cannot be set up: %w", err)
	}
	terminal, err := newLendable(os.Stdin)
	if err != nil {
		return fmt.Errorf("the terminal cannot be read: %w", err)
	}
	p := &prompt{
		terminal: terminal, found: found,
		console: c, request: r, colour: o.Colour, keys: newKeys(terminal), lines: c.Assembler(), guard: &guard{}, history: readHistory(), ends: o.Ends,
	}
	defer context.AfterFunc(ctx, func() { p.keys.Close() })()
	p.request.Input, p.request.Edit, p.request.Leave = p.input, p.editCell, p.leave
	p.guard.operation = func() *readline.Operation { return p.editor.Operation }
	p.guard.resized(width())

	var raw readline.RawMode
	if err := raw.Enter(); err != nil {
		return fmt.Errorf("the terminal cannot be set up: %w", err)
	}
	defer raw.Exit()

	editor, err := readline.NewEx(&readline.Config{
		Stdin:  p.keys,
		Stdout: screen(),
		Stderr: screen(),

		HistoryLimit:           historyLimit + 1, // and the line that is typed
		DisableAutoSaveHistory: true,
		AutoComplete:           completer{p},
		Painter:                painter{p},
		Listener:               p.guard,
		FuncFilterInputRune:    p.guard.filter,
		ForceUseInteractive:    true,
		FuncGetWidth:           width,
		FuncOnWidthChanged:     onWidthChanged(ctx, p.guard),
		FuncMakeRaw:            func() error { return nil },
		FuncExitRaw:            func() error { return nil },
	})
	if err != nil {
		return fmt.Errorf("the line editor cannot start: %w", err)
	}
	p.editor = editor
	shown.Store(editor)
	p.history.give(editor)
	defer func() {
		shown.Store(nil)
		p.keys.Close()
		editor.Close()
	}()

	io.WriteString(screen(), pasteOn)
	defer io.WriteString(screen(), pasteOff)
	return p.loop(ctx)
}

// shown is the editor whose prompt the terminal shows, or nil.
var shown atomic.Pointer[readline.Instance]

// Notify writes a line to the standard error, above the prompt if the terminal shows one.
func Notify(line string) {
	var to io.Writer = os.Stderr
	if editor := shown.Load(); editor != nil {
		to = editor.Stderr()
	}
	fmt.Fprintln(to, line)
}

func (p *prompt) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		text := p.text()
		p.editor.SetPrompt(text)
		p.guard.begin(len(text))
		line, err := p.editor.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			p.lines.Reset()
			p.warned = false
			continue
		case errors.Is(err, io.EOF):
			if p.keys.ended() || p.leave(ctx) {
				return nil
			}
			continue
		case err != nil:
			return fmt.Errorf("the terminal cannot be read: %w", err)
		}
		source, _ := sourceOf([]rune(line), 0, false)
		if entry, complete := p.lines.Add(string(source), !p.keys.pasting()); complete {
			p.history.add(entry)
			p.history.give(p.editor)
			if p.run(ctx, entry) == console.Quit {
				return nil
			}
		}
	}
	return nil
}

// run runs an entry, with Ctrl-C as its interrupt.
func (p *prompt) run(ctx context.Context, entry string) console.Outcome {
	r := p.request
	r.Again, r.Gone = "Ctrl-C again", ctx.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.keys.running((&interrupter{console: p.console, printer: p.request.Printer, cancel: cancel}).press)
	defer p.keys.idle()
	r.Source, r.Columns = entry, Columns()
	warned := p.warned
	outcome := p.console.Run(ctx, r)
	if warned { // this entry is no answer to the question
		p.warned = false
	}
	return outcome
}

// leave reports whether to leave when the user asks to. The first time it warns of what ends with
// the session, if anything.
func (p *prompt) leave(ctx context.Context) bool {
	if !p.ends || p.warned {
		return true
	}
	held := p.console.Held(ctx)
	if held == "" {
		return true
	}
	p.warned = true
	p.request.Printer.Note(nil, "%s would be lost: Ctrl-D again or :quit! leaves, :save FILE keeps the cells", held)
	return false
}

// text returns the prompt: it shows the ranks of `:on`, and dots while an entry continues.
func (p *prompt) text() string {
	if p.lines.Pending() != "" {
		return p.continuation()
	}
	return p.first()
}

func (p *prompt) first() string {
	if ranks := p.console.Target(); ranks != nil {
		if list := session.FormatRanks(ranks); len(list) < leastColumns/2 {
			return "symm[" + list + "]> "
		}
		return fmt.Sprintf("symm[%d ranks]> ", len(ranks))
	}
	return "symm> "
}

// continuation returns the prompt of the lines below the first, as wide as the first prompt.
func (p *prompt) continuation() string {
	const dots = "... "
	return strings.Repeat(" ", len(p.first())-len(dots)) + dots
}

// leastColumns is the smallest width of a screen that the editor is given: it never returns from
// drawing a line if the prompt is a multiple of the width.
const leastColumns = 40

// width returns the columns of the terminal for the editor.
func width() int { return max(Columns(), leastColumns) }

// Columns returns the columns of the prompt's terminal, or 80 if they are not known.
func Columns() int {
	if n, _, err := term.GetSize(int(screen().Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

// onWidthChanged polls the width: a process outside the terminal's session, as under torchrun, gets
// no signal.
func onWidthChanged(ctx context.Context, g *guard) func(func()) {
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
					g.resized(now)
				}
			}
		}()
	}
}
