package cubin

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// located matches the beginning of an error of NVRTC: `cell[3](7): error: identifier "x" is
// undefined`. The source line follows, and a caret under it, both indented by two blanks.
var located = regexp.MustCompile(`^(.+)\((\d+)\): (?:catastrophic )?error(?: #[0-9]+(?:-D)?)?: (.*)$`)

// unfinished matches the beginning of an error of NVRTC about a text that ends too early.
var unfinished = regexp.MustCompile(`^At end of source: (?:catastrophic )?error(?: #[0-9]+(?:-D)?)?: (.*)$`)

// assembler matches the beginning of an error of ptxas, which has no line number.
var assembler = regexp.MustCompile(`^ptxas .*(?:error|fatal) *: (.*)$`)

// instantiated matches the place of an instantiation, which follows an error in a header's template.
var instantiated = regexp.MustCompile(`(?:instantiation|generation) of .* at line (\d+) of (.+)$`)

const indent = 2

// nameMap is the file name in NVRTC's error if a requested name does not exist, and nameless
// matches its message.
const nameMap = "__nv_name_map"

var nameless = regexp.MustCompile(`(?m)^__nv_name_map\(\d+\): error: .*Input name expression was: " *(.*)"$`)

// absent returns the requested names that do not exist.
func absent(log string) []string {
	var names []string
	for _, m := range nameless.FindAllStringSubmatch(log, -1) {
		names = append(names, strings.ReplaceAll(m[1], " ", ""))
	}
	return names
}

// diagnose reads the errors out of a compiler's log.
func diagnose(log string, u Unit) []device.Diagnostic {
	var list []device.Diagnostic
	lines := strings.Split(log, "\n")
	for i, line := range lines {
		if m := located.FindStringSubmatch(line); m != nil && m[1] != nameMap {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				continue
			}
			d := device.Diagnostic{File: m[1], Line: n, Text: m[3]}
			d.Source, d.Column = pointed(lines[i+1:])
			if at, ok := caller(u, d.File, lines[i+1:]); ok {
				d.File, d.Line, d.Column = u.Name, at, 0
				n = at
			}
			if own, ok := sourceLine(u, d.File, n); ok {
				d.Source = own
			}
			list = append(list, d)
		}
	}
	if len(list) > 0 {
		return list
	}
	text := strings.TrimRight(u.Text, " \t\r\n")
	last := u.Line + strings.Count(text, "\n")
	for _, line := range lines {
		if m := unfinished.FindStringSubmatch(line); m != nil {
			own, _ := sourceLine(u, u.Name, last)
			return []device.Diagnostic{{File: u.Name, Line: last, Text: m[1] + " at the end", Source: own}}
		}
		if m := assembler.FindStringSubmatch(line); m != nil {
			return []device.Diagnostic{{File: u.Name, Line: u.Line, Text: m[1]}}
		}
	}
	return nil
}

// caller returns the line of the unit whose use of a header's template is wrong, if the lines after an
// error in another file name it.
func caller(u Unit, file string, lines []string) (line int, ok bool) {
	if file == u.Name {
		return 0, false
	}
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			break
		}
		if m := instantiated.FindStringSubmatch(l); m != nil && m[2] == u.Name {
			line, err := strconv.Atoi(m[1])
			return line, err == nil
		}
	}
	return 0, false
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

// sourceLine returns a line of the unit's own text.
func sourceLine(u Unit, file string, line int) (string, bool) {
	lines := strings.Split(u.Text, "\n")
	i := line - u.Line
	if file != u.Name || i < 0 || i >= len(lines) {
		return "", false
	}
	return strings.TrimRight(lines[i], "\r"), true
}
