package cli

import (
	"context"
	"fmt"
	"strings"
)

// printMan runs symmrepl man.
func printMan(_ context.Context, _ options, args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("man takes no arguments")
	}
	fmt.Fprint(stdout, Man())
	return statusOK, nil
}

// Man returns the manual page, symmrepl.1, for man(1).
func Man() string {
	var b strings.Builder
	section := func(name, text string) {
		b.WriteString(".SH " + name + "\n")
		for i, p := range strings.Split(text, "\n\n") {
			if i > 0 {
				b.WriteString(".PP\n")
			}
			b.WriteString(roff(p) + "\n")
		}
	}
	term := func(label, text string) { b.WriteString(".TP\n.B " + roff(label) + "\n" + roff(text) + "\n") }
	fmt.Fprintf(&b, ".TH SYMMREPL 1 \"\" \"symmrepl %s\" \"User Commands\"\n", release)
	section("NAME", "symmrepl - a prompt and a Jupyter kernel for N GPUs")
	section("SYNOPSIS", "symmrepl [FLAG...] [COMMAND [ARG...]]")
	section("DESCRIPTION", intro+"\n\n"+output)
	b.WriteString(".SH COMMANDS\n")
	for _, f := range forms {
		term(strings.TrimSpace("symmrepl "+f.words), f.text)
	}
	b.WriteString(".SH OPTIONS\nFlags may stand before or after the arguments.\n")
	for _, f := range new(options).flags() {
		term(f.spelled(), f.about())
	}
	section("LAUNCHERS", launchers)
	b.WriteString(".SH EXAMPLE\nOn a machine with four GPUs, or with none:\n.PP\n.nf\n" + roff(example) + "\n.fi\n")
	section("EXIT STATUS", exitStatus)
	section("ENVIRONMENT", environment)
	section("SEE ALSO", "symmrepl doctor says what was found on this machine; :help at the prompt lists its commands.")
	return b.String()
}

// roff escapes the characters that have a meaning in roff: backslashes, dashes, and a point or an
// apostrophe at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
