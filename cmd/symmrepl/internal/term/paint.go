package term

import (
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// painter colours what is typed.
type painter struct{ p *prompt }

// Paint returns a line with colours. The editor asks for it at every key.
func (x painter) Paint(line []rune, pos int) []rune {
	if !x.p.colour || x.p.keys.pasting() {
		return line
	}
	before := x.p.lines.Pending()
	if before != "" {
		before += "\n"
	}
	text, cursor := string(line), len(string(line[:min(pos, len(line))]))
	if strings.HasSuffix(text, "\n") { // the line is done
		cursor = -1
	}
	return []rune(render.HighlightEntry(before, text, cursor))
}
