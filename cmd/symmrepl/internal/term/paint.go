package term

import "github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"

// paint is the editor's Painter: it shows the characters of blocks, and colours what is typed. Its
// result takes as many columns as buffer. Notify makes the editor paint in any goroutine.
func (p *prompt) paint(buffer []rune, pos int) []rune {
	shown := make([]rune, len(buffer))
	for i, r := range buffer {
		switch r {
		case fill:
			r = ' '
		case stored:
			r = '↵'
		}
		shown[i] = r
	}
	if !p.colour || p.keys.pasting() {
		return shown
	}
	before := p.lines.Pending()
	if before != "" {
		before += "\n"
	}
	cursor := len(string(shown[:pos]))
	if p.guard.done.Load() {
		cursor = -1
	}
	return []rune(render.HighlightEntry(before, string(shown), cursor))
}
