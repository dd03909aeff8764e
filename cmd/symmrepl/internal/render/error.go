package render

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// maxDetail is the largest number of lines of an error's Detail that are shown.
const maxDetail = 40

// Error writes an error: position and message, the line of source with a caret, the detail, the hint.
//
//	[2] cell[3]:1:13: index out of range [7] with length 3
//	[2]     fmt.Println(a[7])
//	[2]                   ^
//	[2]     hint: …
func (p *Printer) Error(e *session.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLine()
	p.buf.Reset()
	prefix := session.Prefix(e.Ranks, p.Size)

	head := *e
	head.Hint = ""
	p.lines(prefix, styleError, p.fit(prefix, strings.ReplaceAll(Plain(head.Error()), "\n\t", "\n    "))+"\n")
	if source, caret := excerpt(e.Source, e.Column); source != "" {
		source = Plain(source)
		if p.Colour && !p.Bold && (e.Kind == session.KindSyntax || e.Kind == session.KindType || e.Kind == session.KindPanic) {
			source = Highlight(source, 0, -1)
		}
		p.lines(prefix, "", "    "+source+"\n")
		if caret != "" {
			p.lines(prefix, styleCaret, "    "+caret+"\n")
		}
	}
	if detail := detail(e); detail != "" {
		p.lines(prefix, styleDetail, p.fit(prefix, Plain(detail)))
	}
	if e.Hint != "" {
		p.lines(prefix, styleHint, p.fit(prefix, "    hint: "+Plain(e.Hint))+"\n")
	}
	p.write(p.err)
}

// detail returns the indented and shortened lines of an error's Detail, or "" if they only repeat
// the message.
func detail(e *session.Error) string {
	text := strings.TrimSpace(e.Detail)
	if text == "" || text == strings.TrimSpace(e.Msg) {
		return ""
	}
	lines := strings.Split(text, "\n")
	more := len(lines) - maxDetail
	if more > 0 {
		lines = append(lines[:maxDetail], fmt.Sprintf("… %d more lines", more))
	}
	return "    " + strings.Join(lines, "\n    ") + "\n"
}
