package term

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/symmrepl/symmrepl/session"
)

// Brackets that a terminal puts around pasted text once asked to.
const (
	pasteOn    = "\x1b[?2004h" // asks the terminal for brackets around pasted text
	pasteOff   = "\x1b[?2004l"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// stalled is the time without input after which a paste has lost its end: the user is told so, and
// Ctrl-C drops the paste. Before, a Ctrl-C is a character of the paste.
const stalled = time.Second

// pastes holds the pasted text of the input. The queue of keys has a keyPaste for each text.
type pastes struct {
	texts []string    // in the order of the queue
	begun bool        // the end of the next one has not come
	open  []byte      // the part of it that has come, or the last bytes of a paste that is too long
	size  int         // of the next one
	came  time.Time   // when input came last
	late  *time.Timer // tells the user that the end is lost
}

// arrive appends typed to the queue, with a keyPaste in the place of each pasted text, and returns the
// queue. It drops pastes that are longer than a cell may be.
func (p *pastes) arrive(queue, typed []byte) []byte {
	ctrlCAlone := p.begun && string(typed) == string(rune(ctrlC))
	if ctrlCAlone && time.Since(p.came) >= stalled {
		p.begun, p.open, p.size = false, nil, 0
	}
	defer func() {
		if !ctrlCAlone { // keys that are typed again and again do not delay the end
			p.await()
		}
	}()
	for len(typed) > 0 {
		bracket, text := pasteBegin, &queue
		if p.begun {
			bracket, text = pasteEnd, &p.open
			p.size += len(typed)
		}
		from := max(0, len(*text)-len(bracket)+1) // the bracket may come in pieces
		*text = append(*text, typed...)
		i := bytes.Index((*text)[from:], []byte(bracket))
		if i < 0 {
			break
		}
		typed = slices.Clone((*text)[from+i+len(bracket):])
		*text = (*text)[:from+i]
		if p.begun {
			queue = p.end(queue, p.size-len(bracket)-len(typed))
		}
		p.begun = !p.begun
	}
	if p.size > session.MaxSource {
		p.open = slices.Clone(p.open[max(0, len(p.open)-len(pasteEnd)):])
	}
	return queue
}

// end appends a keyPaste for the open paste to the queue, and returns the queue. size counts all bytes
// of the paste.
func (p *pastes) end(queue []byte, size int) []byte {
	if size > session.MaxSource {
		go Notify(fmt.Sprintf("symmrepl: a pasted text of %d bytes is dropped, a cell may have %d: `:load FILE` runs a file",
			size, session.MaxSource))
	} else {
		queue, p.texts = append(queue, keyPaste), append(p.texts, plain(p.open))
	}
	p.open, p.size = nil, 0
	return queue
}

// await tells the user if the end of an open paste does not come.
func (p *pastes) await() {
	p.came = time.Now()
	if p.late != nil {
		p.late.Stop()
		p.late = nil
	}
	if p.begun {
		p.late = time.AfterFunc(stalled, func() { Notify("symmrepl: the end of a pasted text has not come: Ctrl-C drops the text") })
	}
}

// next returns the text of the next keyPaste.
func (p *pastes) next() string {
	text := p.texts[0]
	p.texts = p.texts[1:]
	return text
}

// drop drops the texts of keys that were dropped from the queue.
func (p *pastes) drop(keys []byte) {
	p.texts = p.texts[bytes.Count(keys, []byte{keyPaste}):]
}

// plain returns pasted text with newlines as its line breaks, and without escape sequences and control
// characters, none of which may act on the prompt or on the terminal. Tabs stay.
func plain(pasted []byte) string {
	var b strings.Builder
	for len(pasted) > 0 {
		i := bytes.IndexByte(pasted, escape)
		if i < 0 {
			i = len(pasted)
		}
		b.Write(pasted[:i])
		if pasted = pasted[i:]; len(pasted) > 0 {
			size, _ := escapeSequence(pasted[:min(len(pasted), 2*longestString)])
			pasted = pasted[max(size, 1):]
		}
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(b.String())
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == fill || r == stored {
			return -1
		}
		return r
	}, text)
}
