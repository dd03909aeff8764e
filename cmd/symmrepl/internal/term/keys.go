package term

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Control characters the terminal sends in raw mode.
const (
	ctrlA = 0x01
	ctrlB = 0x02
	ctrlC = 0x03
	ctrlD = 0x04
	ctrlE = 0x05
	ctrlF = 0x06
	ctrlG = 0x07
	ctrlN = 0x0e
	ctrlP = 0x10
	ctrlW = 0x17
)

// passed are the control characters that reach the line editor. Of the others, Ctrl-Z and Ctrl-\ would
// leave the ranks of a suspended session behind, and the rest mean nothing at a prompt.
const passed = "\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x10\x12\x13\x14\x15\x17\x19\x1b"

// keys is the terminal's input. It reads all the time and passes keys on to the line editor, except
// while a cell runs: then Ctrl-C calls interrupt, and the other keys wait for the next prompt.
type keys struct {
	mu        sync.Mutex
	more      sync.Cond // signalled when anything below changes
	queue     []byte    // as the terminal sent it, but for pasted text
	pasted    pastes    // the pasted text in queue
	interrupt func()    // set while a cell runs
	closed    bool
}

func newKeys(terminal io.Reader) *keys {
	k := &keys{}
	k.more.L = &k.mu
	go k.fill(terminal)
	return k
}

func (k *keys) fill(terminal io.Reader) {
	buf := make([]byte, 1024)
	for {
		n, err := terminal.Read(buf)
		k.arrived(buf[:n])
		if err != nil {
			k.Close()
			return
		}
	}
}

func (k *keys) arrived(typed []byte) {
	known := make([]byte, 0, len(typed))
	for _, b := range typed {
		if b >= ' ' || strings.IndexByte(passed, b) >= 0 {
			known = append(known, b)
		}
	}
	k.mu.Lock()
	k.queue = k.pasted.arrive(k.queue, known)
	interrupt := k.takeInterrupt()
	k.more.Broadcast()
	k.mu.Unlock()
	if interrupt != nil {
		interrupt()
	}
}

// insert puts text before the keys that were not read yet.
func (k *keys) insert(text string) {
	k.mu.Lock()
	k.queue = append([]byte(text), k.queue...)
	k.more.Broadcast()
	k.mu.Unlock()
}

// takeInterrupt returns interrupt if Ctrl-C was typed while a cell runs, and drops the keys before it.
// k.mu is held.
func (k *keys) takeInterrupt() func() {
	if k.interrupt == nil {
		return nil
	}
	i := bytes.LastIndexByte(k.queue, ctrlC)
	if i < 0 {
		return nil
	}
	k.pasted.drop(k.queue[:i])
	k.queue = k.queue[i+1:]
	return k.interrupt
}

// running sets the function that Ctrl-C calls while a cell runs, until idle is called.
func (k *keys) running(interrupt func()) {
	k.mu.Lock()
	k.interrupt = interrupt
	pending := k.takeInterrupt()
	k.mu.Unlock()
	if pending != nil {
		pending()
	}
}

// idle ends the effect of running.
func (k *keys) idle() {
	k.mu.Lock()
	k.interrupt = nil
	k.more.Broadcast()
	k.mu.Unlock()
}

// paste returns the text of the keyPaste that Read has returned.
func (k *keys) paste() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pasted.next()
}

// Read returns keys up to the end of a line at most: the editor asks for more when the entry has
// run, so that keys typed meanwhile reach the cell or the next prompt. Ctrl-G comes before Ctrl-C:
// in a search or a menu, Ctrl-C alone ends only that and keeps the line.
func (k *keys) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		if k.closed {
			return 0, io.EOF
		}
		if k.interrupt == nil {
			if n := k.take(p); n > 0 {
				if p[n-1] == ctrlC && n < len(p) {
					p[n-1], p[n] = ctrlG, ctrlC
					n++
				}
				return n, nil
			}
		}
		k.more.Wait()
	}
}

// take moves keys of one line from the queue to p. Escape sequences become the keys of escapes.go. Only
// the answer of display is left as it is. A keyPaste comes alone. k.mu is held.
func (k *keys) take(p []byte) int {
	n := 0
	for n < len(p) && len(k.queue) > 0 {
		b := k.queue[0]
		if n > 0 && (b == escape || b == keyPaste) {
			break // a key with a sequence begins a new piece
		}
		if b == escape {
			size, key := escapeSequence(k.queue)
			if size == 0 {
				break // its end has not arrived
			}
			sequence := string(k.queue[:size])
			k.queue = k.queue[size:]
			switch {
			case sequence == positionAnswer:
				n = copy(p, sequence)
			case key != 0:
				p[n] = key
				n++
			}
			continue
		}
		k.queue = k.queue[1:]
		p[n] = b
		n++
		if b == '\r' || b == '\n' || b == ctrlC || b == ctrlD || b == keyPaste {
			break
		}
	}
	return n
}

// Close ends the input: Read returns io.EOF from now on.
func (k *keys) Close() error {
	k.mu.Lock()
	k.closed = true
	k.more.Broadcast()
	k.mu.Unlock()
	return nil
}

// ended reports whether Close was called, or the terminal is gone.
func (k *keys) ended() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}
