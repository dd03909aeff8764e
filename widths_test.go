package symmrepl

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	commentColumns = 110 // most lines of comments end at 100
	codeColumns    = 160
	pageColumns    = 100
	tabColumns     = 4
)

// TestWidths holds that lines of Go end where a reader sees them: those of comments but tables and
// examples, and those of code but what strings take.
func TestWidths(t *testing.T) {
	for _, file := range tree(t) {
		if !strings.HasSuffix(file, ".go") || strings.Contains(file, "testdata/") || strings.HasPrefix(file, "tutorials/") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text[:min(len(text), 600)], []byte("DO NOT EDIT")) {
			continue
		}
		lines := bytes.Split(text, []byte("\n"))
		taken := stringColumns(text, len(lines))
		for i, line := range lines {
			columns := columnsOf(line)
			switch trimmed := string(bytes.TrimSpace(line)); {
			case taken[i] == 0 && strings.HasPrefix(trimmed, "// "):
				isTable := strings.HasPrefix(trimmed, "//  ")
				if columns > commentColumns && !isTable {
					t.Errorf("%s:%d: the comment has %d columns, more than %d", file, i+1, columns, commentColumns)
				}
			case taken[i] == 0 && strings.HasPrefix(trimmed, "//"): // a directive, or an example
			case columns-taken[i] > codeColumns:
				t.Errorf("%s:%d: the code has %d columns, of which strings take %d", file, i+1, columns, taken[i])
			}
		}
	}
}

// madePages are written by programs and tests, from texts that have another width.
var madePages = map[string]string{
	"docs/ops.md":      "go generate ./symmem/internal/opspage",
	"docs/kernels.md":  "go generate ./symmem/internal/devicepage",
	"docs/commands.md": "go generate ./cmd/symmrepl/internal/console/command",
	"docs/session.md":  "go test ./cmd/symmrepl -run TestRecording -update",
}

// TestPageWidths holds that the lines of pages end at one width, except tables, headings, code, HTML,
// pictures and single words.
func TestPageWidths(t *testing.T) {
	for _, page := range pages(t) {
		if madePages[page] != "" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range pageLines(text) {
			columns, trimmed := columnsOf([]byte(line)), strings.TrimLeft(line, " -")
			isProse := strings.Contains(trimmed, " ") && !strings.ContainsAny(trimmed[:1], "|#<!")
			if columns > pageColumns && isProse {
				t.Errorf("%s: a line has %d columns, more than %d: %s", page, columns, pageColumns, line)
			}
		}
	}
	for page := range madePages {
		if _, err := os.Stat(page); err != nil {
			t.Errorf("madePages has %s, which is not there", page)
		}
	}
}

// stringColumns returns the number of columns that strings take, for each of the lines of a Go
// file.
func stringColumns(text []byte, lines int) []int {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	taken := make([]int, lines)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return taken
		}
		if tok != token.STRING {
			continue
		}
		line := file.Line(pos) - 1
		for i, part := range strings.Split(literal, "\n") {
			taken[line+i] += columnsOf([]byte(part))
		}
	}
}

// columnsOf returns the columns that a text takes in an editor.
func columnsOf(text []byte) int {
	return utf8.RuneCount(text) + (tabColumns-1)*bytes.Count(text, []byte("\t"))
}
