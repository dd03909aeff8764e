package console

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// snippet returns the CUDA C++ of a `%%cuda` cell and where it begins. ok is false for other
// entries, and if the text has not begun.
func snippet(entry string) (text string, begin int, ok bool) {
	if !strings.HasPrefix(strings.TrimLeft(entry, space), magic) {
		return "", 0, false
	}
	name, _, text, below := splitMagic(entry)
	return text, len(entry) - len(text), below && name == "cuda"
}

// endsSnippet reports whether the text of a `%%cuda` cell is complete at a prompt: its last line is
// blank, and all that it opened is closed.
func endsSnippet(text string) bool {
	code := notCode.ReplaceAllString(text, " ")
	last := text[strings.LastIndex(text, "\n")+1:]
	return strings.TrimSpace(last) == "" && strings.Contains(code, "{") && strings.Count(code, "{") <= strings.Count(code, "}")
}

var (
	notCode      = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`)
	launchBounds = regexp.MustCompile(`__launch_bounds__\s*\([^)]*\)`)
	kernelName   = regexp.MustCompile(`__global__[^;{(]*?\b([A-Za-z_]\w*)\s*\(`)
)

// compiling returns the Go for a cell `%%cuda [NAME] [-g GRID -b BLOCK ARGUMENT…]`: it compiles the
// text under the name, by default the name of its first kernel, and launches it if a grid or a
// block is given. The text stays on the lines of the cell, so that errors cite them.
func compiling(arg, text string) (source string, err error) {
	kernel := kernelName.FindStringSubmatch(launchBounds.ReplaceAllString(notCode.ReplaceAllString(text, " "), " "))
	if kernel == nil {
		return "", errors.New("the cell has no kernel: a function that is declared __global__")
	}
	name, words := kernel[1], arguments(arg)
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		name, words = words[0], words[1:]
	}
	sizes := map[string]string{"-g": "1", "-b": "1"}
	launches := false
	for len(words) > 0 && sizes[words[0]] != "" {
		if len(words) < 2 {
			return "", fmt.Errorf("%s needs a size, such as 4 or 4,2", words[0])
		}
		sizes[words[0]], launches = words[1], true
		words = words[2:]
	}
	if len(words) > 0 && !launches {
		return "", fmt.Errorf("%s is an argument of a launch, which -g GRID or -b BLOCK before it asks for", words[0])
	}
	source = name + " := symm.Compile(`\n" + strings.ReplaceAll(text, "`", "` + \"`\" + `") + "`)"
	if launches {
		launch := append([]string{"symm.Grid(" + sizes["-g"] + ")", "symm.Block(" + sizes["-b"] + ")"}, words...)
		source += "\n" + name + ".Launch(" + strings.Join(launch, ", ") + ")"
	}
	return source, nil
}

// arguments splits a line into words, which are Go expressions: blanks in brackets and in strings
// are part of them, and a comma after a word is not.
func arguments(line string) (words []string) {
	depth, quote, begin := 0, rune(0), -1
	add := func(end int) {
		if begin >= 0 {
			words = append(words, strings.TrimSuffix(line[begin:end], ","))
		}
		begin = -1
	}
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote && (quote == '`' || line[i-1] != '\\') {
				quote = 0
			}
		case strings.ContainsRune("\"'`", r):
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case strings.ContainsRune(space, r) && depth <= 0:
			add(i)
			continue
		}
		if begin < 0 {
			begin = i
		}
	}
	add(len(line))
	return words
}
