package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ergochat/readline"
	"golang.org/x/term"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

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

// Options are the settings of a prompt.
type Options struct {
	Colour bool // paint what is typed
	Ends   bool // the session ends with the prompt: ask before the user leaves tensors behind
}

// Run shows the prompt and runs the entries, until the user leaves or ctx is done. Each entry is
// the source of a request like r; its cells read standard input from the terminal. The terminal is
// left as it was found.
func Run(ctx context.Context, c *console.Console, r console.Request, o Options) error {
	stdin := int(os.Stdin.Fd())
	found, err := term.GetState(stdin)
	if err != nil {
		return fmt.Errorf("the terminal cannot be set up: %w", err)
	}
	terminal, err := newLendable(os.Stdin)
	if err != nil {
		return fmt.Errorf("the terminal cannot be read: %w", err)
	}
	p := &prompt{
		console: c, request: r, colour: o.Colour, ends: o.Ends,
		terminal: terminal, found: found, keys: newKeys(terminal),
		lines: c.Assembler(), history: readHistory(),
	}
	p.guard = &guard{paste: p.keys.paste, typed: p.keys.insert}
	defer p.keys.Close()
	defer context.AfterFunc(ctx, func() { p.keys.Close() })()
	p.request.Input, p.request.Ask, p.request.Edit, p.request.Leave = p.input, p.ask, p.editCell, p.leave

	if err := makeRaw(stdin); err != nil {
		return fmt.Errorf("the terminal cannot be set up: %w", err)
	}
	defer term.Restore(stdin, found)
	if err := p.startEditor(); err != nil {
		return err
	}
	defer p.stopEditor()

	defer io.WriteString(screen(), pasteOff)
	return p.loop(ctx)
}

func (p *prompt) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		io.WriteString(screen(), pasteOn) // a program that a cell ran may have switched it off
		line, err := p.readLine(p.text())
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			p.lines.Reset()
			p.warned = false
			continue
		case p.keys.ended(): // the editor takes the typed text for a line
			return nil
		case errors.Is(err, io.EOF):
			if p.leave(ctx) {
				return nil
			}
			continue
		case err != nil:
			return err
		}
		if entry, complete := p.lines.Add(line, true); complete {
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
	i := &interrupter{console: p.console, printer: p.request.Printer, cancel: cancel}
	p.keys.running(i.press)
	defer p.keys.idle()
	defer i.again.End()
	r.Source, r.Columns = entry, Columns()
	warned := p.warned
	outcome := p.console.Notebook(ctx, r)
	if warned { // the user was asked before this entry
		p.warned = false
	}
	return outcome
}

// leave reports whether to leave, now that the user wants to. The first time it names the tensors
// that would be lost with the session, if there are any.
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
	first := p.first()
	if p.lines.Pending() == "" {
		return first
	}
	const dots = "... "
	return strings.Repeat(" ", len(first)-len(dots)) + dots
}

// longestRanks is the number of bytes of a list of ranks up to which the prompt shows it.
const longestRanks = 20

func (p *prompt) first() string {
	if ranks := p.console.Target(); ranks != nil {
		if list := session.FormatRanks(ranks); len(list) < longestRanks {
			return "symm[" + list + "]> "
		}
		return fmt.Sprintf("symm[%d ranks]> ", len(ranks))
	}
	return "symm> "
}
