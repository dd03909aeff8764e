package cubin

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// located is how NVRTC begins an error: `cell[3](7): error: identifier "x" is undefined`. The source line follows, and a caret under it, both
// behind two blanks.
var located = regexp.MustCompile(`^(.+)\((\d+)\): (?:catastrophic )?error(?: #[0-9]+(?:-D)?)?: (.*)$`)

// assembler is how the second stage begins one; it knows no lines.
var assembler = regexp.MustCompile(`^ptxas .*(?:error|fatal) *: (.*)$`)

const indent = 2

// diagnose reads the errors out of a compiler's log.
func diagnose(log string, u Unit) []device.Diagnostic {
	var list []device.Diagnostic
	lines := strings.Split(log, "\n")
	for i, line := range lines {
		if m := located.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				continue
			}
			d := device.Diagnostic{File: m[1], Line: n, Text: m[3]}
			d.Source, d.Column = pointed(lines[i+1:])
			if own, ok := sourceLine(u, d.File, n); ok {
				d.Source = own
			}
			list = append(list, d)
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, line := range lines {
		if m := assembler.FindStringSubmatch(line); m != nil {
			return []device.Diagnostic{{File: u.Name, Line: u.Line, Text: m[1]}}
		}
	}
	return nil
}

// pointed reads the source line and the column of the caret.
func pointed(lines []string) (source string, column int) {
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "  ") {
		return "", 0
	}
	source = lines[0][indent:]
	caret := strings.TrimRight(lines[1], " ")
	if strings.TrimLeft(caret, " \t") == "^" {
		column = len(caret) - indent
	}
	return source, column
}

// sourceLine is the unit's own line.
func sourceLine(u Unit, file string, line int) (string, bool) {
	lines := strings.Split(u.Text, "\n")
	i := line - u.Line
	if file != u.Name || i < 0 || i >= len(lines) {
		return "", false
	}
	return strings.TrimRight(lines[i], "\r"), true
}
