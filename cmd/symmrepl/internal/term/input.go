package term

import (
	"context"
	"io"
	"unicode/utf8"
)

const (
	escape = 0x1b
	erase  = 0x7f
)

// input asks for a line of standard input, for a cell that runs.
func (p *prompt) input(ctx context.Context) (string, error) {
	text, err := p.keys.line(ctx, func(s string) { io.WriteString(screen(), s) })
	if !p.request.Printer.CloseLine() {
		io.WriteString(screen(), "\n")
	}
	return text, err
}

// ask asks for a line after a prompt of its own, while a cell stands.
func (p *prompt) ask(ctx context.Context, text string) (string, error) {
	p.request.Printer.CloseLine()
	io.WriteString(screen(), text)
	line, err := p.keys.line(ctx, func(s string) { io.WriteString(screen(), s) })
	io.WriteString(screen(), "\n")
	return line, err
}

// line reads a line while a cell runs. Ctrl-D at its beginning is the end of the input.
func (k *keys) line(ctx context.Context, echo func(string)) (string, error) {
	defer context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.more.Broadcast()
	})()
	k.mu.Lock()
	defer k.mu.Unlock()
	var text []byte
	key := make([]byte, 1)
	for {
		for ctx.Err() == nil && !k.closed && k.take(key) == 0 {
			k.more.Wait()
			key[0] = 0
		}
		switch b := key[0]; {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case k.closed, b == ctrlD && len(text) == 0:
			return "", io.EOF
		case b == '\r' || b == '\n':
			return string(text), nil
		case b == keyPaste: // its lines are read as typed ones
			k.queue = append([]byte(k.pasted.next()), k.queue...)
		case b == '\b' || b == erase:
			if len(text) > 0 {
				_, size := utf8.DecodeLastRune(text)
				text = text[:len(text)-size]
				echo("\b \b")
			}
		case b >= ' ' || b == '\t':
			text = append(text, b)
			echo(string(key))
		}
	}
}
