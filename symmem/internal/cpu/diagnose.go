//go:build linux && amd64

package cpu

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// compileError completes diagnostics, whose lines count from the snippet's first, with the snippet's name, place and text.
func compileError(src device.Source, found ...device.Diagnostic) *device.CompileError {
	lines := strings.Split(src.Text, "\n")
	e := &device.CompileError{}
	for _, d := range found {
		d.File = src.Name
		if d.Line >= 1 && d.Line <= len(lines) {
			d.Source = strings.TrimRight(lines[d.Line-1], "\r")
		}
		d.Line += src.Line - 1
		e.Diagnostics = append(e.Diagnostics, d)
		e.Log += d.String() + "\n"
	}
	return e
}

var (
	errorLine    = regexp.MustCompile(`^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$`)
	requiredLine = regexp.MustCompile(`^` + regexp.QuoteMeta(snippetFile) + `:(\d+):(?:(\d+):)?\s+(?:required from|note: in instantiation)`)
	linkerLine   = regexp.MustCompile(regexp.QuoteMeta(snippetFile) + `:(\d+): (undefined reference to .*)$`)
)

// readLog finds the errors of a compiler's log. An error inside a header counts for the line of the snippet that led there.
func readLog(src device.Source, log string) *device.CompileError {
	var found []device.Diagnostic
	elsewhere := -1 // index of an error outside the snippet
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\n")
		if m := errorLine.FindStringSubmatch(line); m != nil {
			d := device.Diagnostic{Line: number(m[2]), Column: number(m[3]), Text: m[4]}
			elsewhere = -1
			if m[1] != snippetFile {
				d.Line, d.Column = 0, 0
				elsewhere = len(found)
			}
			found = append(found, d)
		} else if m := requiredLine.FindStringSubmatch(line); m != nil && elsewhere >= 0 {
			found[elsewhere].Line, found[elsewhere].Column = number(m[1]), number(m[2])
		} else if m := linkerLine.FindStringSubmatch(line); m != nil {
			found = append(found, device.Diagnostic{Line: number(m[1]), Text: m[2]})
		}
	}
	e := &device.CompileError{}
	if len(found) > 0 {
		e = compileError(src, found...)
	}
	e.Log = log
	return e
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // the pattern matched digits or nothing
	return n
}

// loadError is what the dynamic linker says of a library that compiled.
func loadError(src device.Source, err error) error {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "undefined symbol: "); ok {
		text = "undefined symbol " + after
	}
	return &device.CompileError{Log: src.Name + ": " + text}
}
