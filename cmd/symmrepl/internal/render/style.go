package render

import (
	"os"

	"golang.org/x/term"
)

// ANSI attributes, by meaning.
const (
	stylePrefix = "2"    // dim
	styleNote   = "33"   // yellow
	styleError  = "1;31" // bold red
	styleCaret  = "32"   // green
	styleHint   = "36"   // cyan
	styleDetail = "2"
)

// bold maps the styles to the styles of a Printer that emphasises by weight alone.
var bold = map[string]string{styleError: "1", styleCaret: "1"}

// paint returns text with a style, or unchanged if there are no colours or text is empty.
func (p *Printer) paint(style, text string) string {
	if p.Bold {
		style = bold[style]
	}
	if !p.Colour || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// WantsColour reports whether f is a terminal whose user wants colours: NO_COLOR is unset or empty,
// and TERM is not "dumb".
func WantsColour(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && IsTerminal(f)
}

// IsTerminal reports whether f is a terminal that understands ANSI escapes.
func IsTerminal(f *os.File) bool { return os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())) }
