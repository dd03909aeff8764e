package term

import (
	"fmt"
	"io"

	"github.com/ergochat/readline"
)

// startEditor gives the prompt a line editor, with the history.
func (p *prompt) startEditor() error {
	editor, err := readline.NewFromConfig(&readline.Config{
		Stdin:  p.keys,
		Stdout: display{p.keys},
		Stderr: display{p.keys},

		HistoryLimit:           historyLimit + 1, // and the line that is typed
		DisableAutoSaveHistory: true,
		AutoComplete:           completer{p},
		Painter:                p.paint,
		Listener:               p.guard.listen,
		FuncFilterInputRune:    p.guard.filter,
		FuncIsTerminal:         func() bool { return true },
		FuncGetSize:            size,
		FuncOnWidthChanged:     func(changed func()) { p.guard.resize = changed },
		FuncMakeRaw:            func() error { return nil }, // Run does this once
		FuncExitRaw:            func() error { return nil },
	})
	if err != nil {
		return fmt.Errorf("the line editor cannot start: %w", err)
	}
	p.editor, p.guard.refresh = editor, editor.Refresh
	p.history.give(editor)
	shown.Store(editor)
	return nil
}

func (p *prompt) stopEditor() {
	shown.Store(nil)
	p.editor.Close()
}

// readLine shows a prompt and reads a line, which has line breaks if it was edited as a block. If
// the editor panics, the next editor goes on with the same line.
func (p *prompt) readLine(text string) (string, error) {
	p.guard.begin(len(text))
	for {
		p.editor.SetPrompt(text)
		line, failure, err := p.tryReadLine()
		if failure == nil {
			source, _ := sourceOf([]rune(line), 0, len(text), false)
			return string(source), err
		}
		p.stopEditor()
		io.WriteString(screen(), "\n")
		p.request.Printer.Note(nil, "the line editor failed and has started again: %v", failure)
		if err := p.startEditor(); err != nil {
			return "", err
		}
		buffer, _ := layOut(p.guard.text, 0, len(text))
		p.editor.SetDefault(string(buffer))
	}
}

// tryReadLine calls the editor's ReadLine. If that panics, failure is the value of the panic. The
// editor works in the calling goroutine alone.
func (p *prompt) tryReadLine() (line string, failure any, err error) {
	defer func() { failure = recover() }()
	line, err = p.editor.ReadLine()
	return
}

// display is the screen for the editor, which asks for the position of the cursor before each
// prompt and waits for the answer. Some terminals give none, so display answers: the prompt begins
// at the left.
type display struct{ keys *keys }

const (
	positionQuestion = "\x1b[6n"
	positionAnswer   = "\x1b[1;1R"
)

func (d display) Write(b []byte) (int, error) {
	if string(b) == positionQuestion {
		d.keys.insert(positionAnswer)
		return len(b), nil
	}
	return screen().Write(b)
}
