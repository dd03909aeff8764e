package cli

import (
	"strings"
)

// The columns of --help: its width, and where the text of commands and of flags begins.
const (
	usageWidth  = 118
	commandText = 32
	flagText    = 24
)

// usage is the text of --help.
func usage() string {
	var b strings.Builder
	paragraph := func(text string) {
		for _, p := range strings.Split(text, "\n\n") {
			b.WriteString(wrapped(p, "", 0) + "\n")
		}
	}
	paragraph(intro)
	for _, f := range forms {
		b.WriteString(wrapped(f.text, "    "+strings.TrimSpace("symmrepl "+f.words), commandText))
	}
	b.WriteString("\nFor example, on a machine with four GPUs, or with none:\n\n    " + strings.ReplaceAll(example, "\n",
		"\n    ") + "\n\n")
	paragraph(output)
	b.WriteString("Flags, which may stand before or after the arguments:\n\n")
	for _, f := range new(options).flags() {
		b.WriteString(wrapped(f.about(), "    "+f.spelled(), flagText))
	}
	b.WriteString("\n")
	paragraph(launchers)
	paragraph("Exit status: " + exitStatus)
	b.WriteString(wrapped("Environment: "+environment, "", 0))
	return b.String()
}

// wrapped returns a label and a text whose lines begin at a column. A label that is too long has a
// line of its own.
func wrapped(text, label string, column int) string {
	var b strings.Builder
	line := label
	if len(label) >= column && label != "" {
		b.WriteString(label + "\n")
		line = ""
	}
	line += strings.Repeat(" ", column-len(line))
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > usageWidth {
			b.WriteString(line + "\n")
			line, empty = strings.Repeat(" ", column), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return b.String() + line + "\n"
}
