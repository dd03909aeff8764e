package term

import (
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// painter shows blocks as lines, and colours the line.
type painter struct{ p *prompt }

// Paint returns the appearance of a buffer. The editor calls it at every key.
func (x painter) Paint(buffer []rune, pos int) []rune {
	text, cursor := sourceOf(buffer, pos, false)
	shown := string(text)
	if x.p.colour && !x.p.keys.pasting() {
		before := x.p.lines.Pending()
		if before != "" {
			before += "\n"
		}
		at := len(string(text[:cursor]))
		if strings.HasSuffix(shown, "\n") { // the line is done
			at = -1
		}
		shown = render.HighlightEntry(before, shown, at)
	}
	return spread([]rune(shown), buffer, x.p.continuation())
}

// spread replaces the characters of a buffer by text, which may have colours. Line breaks end with
// the prompt of the next row.
func spread(text, buffer []rune, prompt string) []rune {
	var out []rune
	blank := func(n int) {
		for range n {
			out = append(out, ' ')
		}
	}
	next := 0
	colours := func() {
		for next < len(text) && text[next] == escape {
			for next < len(text) && text[next] != 'm' {
				out = append(out, text[next])
				next++
			}
			if next < len(text) {
				out = append(out, 'm')
				next++
			}
		}
	}
	for _, c := range cells(buffer) {
		switch {
		case c.r == noRune:
			blank(c.end - c.at)
			continue
		case buffer[c.at] == blockNewline:
			blank(c.end - c.at - len(prompt))
			out = append(out, []rune(prompt)...)
		case buffer[c.at] == blockStored:
			out = append(out, '↵')
		case buffer[c.at] == blockTab:
			blank(c.end - c.at)
		default:
			colours()
			out = append(out, c.r)
			next++
			colours()
			continue
		}
		colours()
		next++
		colours()
	}
	colours()
	return out
}
