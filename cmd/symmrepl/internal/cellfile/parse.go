package cellfile

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
)

// Cell is a cell of a file.
type Cell struct {
	Line   int    // line of the file on which Source begins, from 1
	Ranks  string // a list such as "[0,2]", or ""
	Kind   string // the word of `// %% [word]`, or ""
	Title  string // the rest of the line `// %%`
	Source string
}

const (
	separator   = "// %%" // begins the first line of a cell
	folderMagic = "%%cd " // what follows "// follows "// " on the first line of a cell that changes the folder; it is part of the source
)

// kind matches the rest of the first line of a cell of a kind.
var kind = regexp.MustCompile(`^\[([a-z]+)\] *(.*)$`)

// Parse returns the cells of a file that run: cells of no kind, with code other than comments and
// build constraints. A file of package main is a program: its last cell calls its function main.
func Parse(text string) []Cell {
	text, line := withoutPackage(text)
	cells := slices.DeleteFunc(All(text), func(c Cell) bool { return c.Kind != "" || !hasCode(c.Source) })
	if line > 0 {
		cells = append(cells, Cell{Line: line, Source: "main()"})
	}
	return cells
}

// MainLine returns the line of the function main of a file of package main, 0 if it has none.
func MainLine(text string) int {
	_, line := withoutPackage(text)
	return line
}

// withoutPackage returns a program's text with spaces in place of its package clause, and the line
// of its function main. It returns other texts unchanged, with 0.
func withoutPackage(text string) (string, int) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if f == nil || !f.Package.IsValid() || f.Name == nil || f.Name.Name != "main" {
		return text, 0
	}
	line := 0
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "main" {
			line = files.Position(fn.Pos()).Line
		}
	}
	if line == 0 && err == nil {
		return text, 0
	}
	start, end := files.Position(f.Package).Offset, files.Position(f.Name.End()).Offset
	clause := strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text[start:end])
	return text[:start] + clause + text[end:], line
}

// All returns all cells of a file. The first is the text before the first separator.
func All(text string) []Cell {
	var cells []Cell
	cell, start := Cell{Line: 1}, 0
	add := func(end int) {
		cell.Source = text[start:end]
		cells = append(cells, cell)
	}
	for _, at := range separators(text) {
		add(at)
		line, _, _ := strings.Cut(text[at:], "\n")
		end := min(at+len(line)+1, len(text))
		cell, start = Cell{Line: 1 + strings.Count(text[:end], "\n")}, end
		if comment := len("// "); strings.HasPrefix(line[comment:], folderMagic) {
			cell.Line, start = cell.Line-1, at+comment
			continue
		}
		cell.head(line[len(separator):])
	}
	add(len(text))
	return cells
}

// head parses the text after `// %%`.
func (c *Cell) head(rest string) {
	if ranks, ok := strings.CutPrefix(rest, "rank"); ok {
		c.Ranks = strings.TrimSpace(ranks)
		return
	}
	c.Title = strings.TrimSpace(rest)
	if m := kind.FindStringSubmatch(c.Title); m != nil {
		c.Kind, c.Title = m[1], m[2]
	}
}

// separators returns the positions of the first lines of cells.
func separators(text string) []int {
	var found []int
	source := []byte(text)
	for at := commands(text); ; {
		next, isCommand := lineIn(source[at:])
		if next < 0 {
			return found
		}
		at += next
		if !isCommand {
			found = append(found, at)
		}
		line, _, _ := strings.Cut(text[at:], "\n")
		at = min(at+len(line)+1, len(text))
		at += commands(text[at:])
	}
}

// commands returns the length of the leading lines of a cell that are blank, commands or shell
// lines.
func commands(cell string) int {
	length := 0
	for line := range strings.Lines(cell) {
		trimmed := strings.TrimSpace(line)
		if trimmed != "" && !strings.ContainsRune(":%$", rune(trimmed[0])) {
			break
		}
		length += len(line)
	}
	return length
}

// lineIn returns the position of the first line that begins a cell, or is a command or a shell line
// of a cell, or -1. The text need not be correct Go, but it begins at the beginning of a line.
func lineIn(text []byte) (at int, isCommand bool) {
	if !bytes.Contains(text, []byte(separator)) {
		return -1, false
	}
	source := string(text)
	for t := range gotokens.WithComments(source) {
		switch {
		case t.Kind == token.COMMENT && strings.HasPrefix(t.Text, separator) && (t.At == 0 || source[t.At-1] == '\n'):
			return t.At, false
		case commandAt(source, t):
			return t.At, true
		}
	}
	return -1, false
}

// hasCode reports whether source has a line that is neither blank nor a line comment.
func hasCode(source string) bool {
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			return true
		}
	}
	return false
}
