//go:build linux && (amd64 || arm64)

package cpu

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// compileError adds the snippet's name, place and text to diagnostics, whose lines count from the
// snippet's first.
func compileError(src device.Source, found ...device.Diagnostic) *device.CompileError {
	e := &device.CompileError{}
	for _, d := range found {
		d.File = src.Name
		d.Line += src.Line - 1
		d.Source = src.LineAt(d.Line)
		e.Diagnostics = append(e.Diagnostics, d)
		e.Log += d.String() + "\n"
	}
	return e
}

var (
	errorLine    = regexp.MustCompile(`^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$`)
	requiredLine = regexp.MustCompile(`^` + regexp.QuoteMeta(snippetFile) + `:(\d+):(?:(\d+):)?\s+(?:required from|note: in instantiation)`)
	lldSymbol    = regexp.MustCompile(`^ld\.lld: error: undefined (?:hidden )?symbol: (.*)$`)
	lldPlace     = regexp.MustCompile(`^>>> referenced by ` + regexp.QuoteMeta(snippetFile) + `:(\d+)`)
	inlinedLine  = regexp.MustCompile(`inlined from .* at ` + regexp.QuoteMeta(snippetFile) + `:(\d+):(\d+)`)
	rejectedCall = regexp.MustCompile(`^call to .* declared with attribute error: (.*)$`)
	refusedCall  = regexp.MustCompile("^undefined reference to `(inline PTX: .*)'$") // see EMU_REFUSED
	linkerLine   = regexp.MustCompile(regexp.QuoteMeta(snippetFile) + `:(\d+): (undefined reference to .*)$`)
)

// readLog returns the errors in a compiler's log. An error inside a header is placed at the
// snippet's line that included it, which g++ names before the error and clang after it. An error
// after the snippet is placed at its last line.
func readLog(src device.Source, log string) *device.CompileError {
	var found []device.Diagnostic
	var led *device.Diagnostic // a position that belongs to the next error
	inner := -1                // the last error, if it is outside of the snippet and no position belongs to it
	missing := ""              // the symbol that zig's linker misses, before the places that refer to it
	last := 1 + strings.Count(strings.TrimRight(src.Text, "\n"), "\n")
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\n")
		if m := errorLine.FindStringSubmatch(line); m != nil {
			d := device.Diagnostic{Line: number(m[2]), Column: number(m[3]), Text: m[4]}
			if r := rejectedCall.FindStringSubmatch(d.Text); r != nil {
				d.Text = r[1]
			}
			outside := m[1] != snippetFile
			if outside && led != nil {
				d.Line, d.Column = led.Line, led.Column
			} else if outside {
				d.Line, d.Column = last, 0
			}
			found = append(found, d)
			inner = -1
			if outside && led == nil {
				inner = len(found) - 1
			}
			led = nil
		} else if m := requiredLine.FindStringSubmatch(line); m != nil {
			if inner >= 0 {
				found[inner].Line, found[inner].Column = number(m[1]), number(m[2])
			} else {
				led = &device.Diagnostic{Line: number(m[1]), Column: number(m[2])}
			}
		} else if m := lldSymbol.FindStringSubmatch(line); m != nil {
			missing = m[1]
		} else if m := lldPlace.FindStringSubmatch(line); m != nil {
			found = append(found, device.Diagnostic{Line: number(m[1]), Text: "undefined reference to `" + missing + "'"})
		} else if m := inlinedLine.FindStringSubmatch(line); m != nil && led == nil {
			led = &device.Diagnostic{Line: number(m[1]), Column: number(m[2])}
		} else if m := linkerLine.FindStringSubmatch(line); m != nil {
			if strings.Contains(m[2], "__dso_handle") { // used by destructors
				m[2] = dynamicWhy
			}
			found = append(found, device.Diagnostic{Line: number(m[1]), Text: m[2]})
		}
	}
	for i, d := range found {
		if m := refusedCall.FindStringSubmatch(d.Text); m != nil {
			found[i].Text = m[1]
		}
	}
	placeStatements(src.Text, found)
	e := &device.CompileError{}
	if len(found) > 0 {
		e = compileError(src, found...)
	}
	e.Log = log
	return e
}

// An asm statement, and a macro with its name and its definition, which may have several lines.
var (
	asmWord = regexp.MustCompile(`\b(?:asm|__asm__|__asm)\b`)
	macro   = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)((?:.*\\\n)*.*)$`)
)

// placeStatements moves errors about inline PTX, which the compiler places at the end of a call and
// the linker at a line, to the word asm, or to the macro that has it, if there is one of them on the
// line.
func placeStatements(text string, found []device.Diagnostic) {
	text = cudalex.Blank(text, onCPU)
	lines := strings.Split(text, "\n")
	statement := asmWord
	for _, m := range macro.FindAllStringSubmatch(text, -1) {
		if statement.MatchString(m[2]) {
			statement = regexp.MustCompile(statement.String() + `|\b` + m[1] + `\b`)
		}
	}
	for i, d := range found {
		if !strings.HasPrefix(d.Text, "inline PTX: ") || d.Line < 1 || d.Line > len(lines) {
			continue
		}
		line := lines[d.Line-1]
		if at := statement.FindAllStringIndex(line, -1); len(at) == 1 && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			found[i].Column = at[0][0] + 1
		}
	}
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // the pattern matches only digits or nothing
	return n
}

// loadError returns an error for the dynamic linker's error about a compiled library.
func loadError(src device.Source, err error) error {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "undefined symbol: "); ok {
		text = "undefined symbol " + after
	}
	return &device.CompileError{Log: src.Name + ": " + text}
}
