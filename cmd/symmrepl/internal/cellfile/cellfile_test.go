package cellfile

import (
	"fmt"
	"go/scanner"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []Cell
	}{
		"no separator": {"x := 1\ny := 2", []Cell{{Line: 1, Source: "x := 1\ny := 2"}}},
		"titles and lines": {"a\n// %% second\nb\nc\n// %%\nd\n",
			[]Cell{{Line: 1, Source: "a\n"}, {Line: 3, Title: "second", Source: "b\nc\n"}, {Line: 6, Source: "d\n"}}},
		"ranks": {"// %%rank [0,2]\nx\n", []Cell{{Line: 2, Ranks: "[0,2]", Source: "x\n"}}},
		"a folder": {"x\n// %%cd \"/a b\"\n\n// %%cd ..\ny\n// %%cdrom\nz",
			[]Cell{{Line: 1, Source: "x\n"}, {Line: 2, Source: "%%cd \"/a b\"\n\n"}, {Line: 4, Source: "%%cd ..\ny\n"},
				{Line: 7, Title: "cdrom", Source: "z"}}},
		"header without code":    {"//go:build ignore\n\n// About.\n\n// %%\nx\n", []Cell{{Line: 6, Source: "x\n"}}},
		"empty cells":            {"// %%\n\n// %%\n// only words\n", []Cell{}},
		"separators begin lines": {"x // %% no\n // %% no\n", []Cell{{Line: 1, Source: "x // %% no\n // %% no\n"}}},
		"raw strings": {"s := `\n// %% no\n`\n// %% yes\nt",
			[]Cell{{Line: 1, Source: "s := `\n// %% no\n`\n"}, {Line: 5, Title: "yes", Source: "t"}}},
		"long comments": {"/*\n// %% no\n*/ x\n// %%\ny",
			[]Cell{{Line: 1, Source: "/*\n// %% no\n*/ x\n"}, {Line: 5, Source: "y"}}},
		"carriage returns": {"x\r\n// %%rank [1]\r\ny\r\n",
			[]Cell{{Line: 1, Source: "x\r\n"}, {Line: 3, Ranks: "[1]", Source: "y\r\n"}}},
		"title at the end": {"x\n// %%", []Cell{{Line: 1, Source: "x\n"}}},
		"what is not Go":   {"\"a\n'b\n// %%\n#", []Cell{{Line: 1, Source: "\"a\n'b\n"}, {Line: 4, Source: "#"}}},
		"kinds": {"// %% [markdown]\n// text\n// %% [check] it\nx\n// %% [a, b]\nx\n// %% y [z]\ny\n",
			[]Cell{{Line: 6, Title: "[a, b]", Source: "x\n"}, {Line: 8, Title: "y [z]", Source: "y\n"}}},
		"nothing": {"", []Cell{}},
		"commands": {":on 1\n\n$ ls /*\n%cd `x\nx\n// %%\n$ echo '`\n// %%\n$ ls\n",
			[]Cell{{Line: 1, Source: ":on 1\n\n$ ls /*\n%cd `x\nx\n"}, {Line: 7, Source: "$ echo '`\n"}, {Line: 9, Source: "$ ls\n"}}},
		"commands between Go": {"x\n$ echo `it's\n%vars\n// %%\nf(\n%vars `\n// %%\n`)\n// %%\ny",
			[]Cell{{Line: 1, Source: "x\n$ echo `it's\n%vars\n"}, {Line: 5, Source: "f(\n%vars `\n// %%\n`)\n"}, {Line: 10, Source: "y"}}},
		"a program": {"// About.\npackage main\n\nvar x = 1\n\nfunc main() { print(x) }\n",
			[]Cell{{Line: 1, Source: "// About.\n            \n\nvar x = 1\n\nfunc main() { print(x) }\n"}, {Line: 6, Source: "main()"}}},
		"a program in cells": {"package main; func main() {}\n// %%\nx\n",
			[]Cell{{Line: 1, Source: "            ; func main() {}\n"}, {Line: 3, Source: "x\n"}, {Line: 1, Source: "main()"}}},
		"cells with a clause": {"package main\nx := 1\n", []Cell{{Line: 1, Source: "            \nx := 1\n"}}},
		"another package":     {"package p\nfunc main() {}\n", []Cell{{Line: 1, Source: "package p\nfunc main() {}\n"}}},
		"a method main": {"package main\nfunc (t T) main() {}\ntype T int\n",
			[]Cell{{Line: 1, Source: "package main\nfunc (t T) main() {}\ntype T int\n"}}},
	} {
		if got := Parse(test.text); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// FuzzCommands holds any text: the positions are those of lines, and the rest is found by the next call.
func FuzzCommands(f *testing.F) {
	for _, text := range []string{"x\n%vars\ny", "f(\n%vars\n)", "$", "\n:a", "s := `\n:a\n`\n  :a", "\x00%a", ":a /*\n*/ %b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for begin := 0; ; {
			at := NextCommand(text[begin:])
			if at < 0 {
				return
			}
			at += begin
			if line, _, _ := strings.Cut(text[at:], "\n"); at > 0 && text[at-1] != '\n' || !strings.ContainsRune(":%$", rune(strings.TrimSpace(line)[0])) {
				t.Fatalf("the line %q at %d of %q", line, at, text)
			}
			end := CommandEnd(text[at:])
			if end <= 0 || at+end > len(text) || at+end < len(text) && text[at+end-1] != '\n' {
				t.Fatalf("the end %d of %q at %d", end, text, at)
			}
			begin = at + end
		}
	})
}

func TestAll(t *testing.T) {
	got := All("// head\n// %% [markdown]\n// text\n// %% [check] it\nx")
	want := []Cell{
		{Line: 1, Source: "// head\n"},
		{Line: 3, Kind: "markdown", Source: "// text\n"},
		{Line: 5, Kind: "check", Title: "it", Source: "x"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestFormat(t *testing.T) {
	got := Format([]session.Cell{
		{Source: "x := 1"},
		{Source: "\ny := `\n// %% no\n`\n// %% no\nx", Ranks: []int{0, 2}},
		{Folder: "/a \"b\""},
		{Folder: "/c", Failed: "chdir /c: no such file or directory"},
		{Source: "%% z", Failed: "cell[3]:1:1: expected statement, found '%'"},
	})
	want := header + "\n// %%\nx := 1\n\n// %%rank [0,2]\ny := `\n// %% no\n`\n // %% no\nx\n\n" +
		"// %%cd \"/a \\\"b\\\"\"\n\n// %% failed: chdir /c: no such file or directory\n//\t%%cd \"/c\"\n\n" +
		"// %% failed: cell[3]:1:1: expected statement, found '%'\n//\t%% z\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// tokens returns the Go tokens of a cell. ok is false if the cell has other characters than Go's
// tokens, or has no token.
func tokens(source string) (list []string, ok bool) {
	ok = true
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), []byte(source), func(token.Position, string) { ok = false }, 0)
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		list = append(list, fmt.Sprint(tok, literal))
	}
	// Go allows a byte order mark only at the beginning of a file
	return list, ok && len(list) > 0 && !strings.ContainsAny(strings.TrimSpace(source)[:1], ":%$") && !strings.ContainsRune(source, '\ufeff')
}

// Saving cells and loading the file gives the same cells.
func FuzzFormat(f *testing.F) {
	f.Add("x := 1", "y := `\n// %% no\n`", false)
	f.Add("// %% a\nx", "/*\r\n// %%\r\n*/ y\r\n\r\n", true)
	f.Add("s := `\r\n`", "// %%rank [7]\n'a'", true)
	f.Add("//\n/**/0", "#\n", true)
	f.Fuzz(func(t *testing.T, one, two string, some bool) {
		cells := []session.Cell{{Source: one}, {Source: "failed(\n// %%\n`", Failed: "syntax\nerror"}, {Source: two}, {Source: "last"}}
		if some {
			cells[2].Ranks = []int{1, 2}
		}
		var want []Cell
		for _, c := range cells {
			list, ok := tokens(c.Source)
			switch {
			case c.Failed != "":
				continue
			case !ok:
				return
			}
			ranks := ""
			if c.Ranks != nil {
				ranks = "[" + session.FormatRanks(c.Ranks) + "]"
			}
			want = append(want, Cell{Ranks: ranks, Source: strings.Join(list, "\n")})
		}
		text := Format(cells)
		got := Parse(text)
		for i, c := range got {
			if lines := strings.Split(text, "\n"); !strings.HasPrefix(lines[c.Line-2], separator) {
				t.Errorf("the cell at line %d of %q does not follow a separator", c.Line, text)
			}
			list, _ := tokens(c.Source)
			got[i].Line, got[i].Source = 0, strings.Join(list, "\n")
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q is loaded as %+v, want %+v", text, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("a\n// %% b\nc")
	f.Add("// %%rank [0]\n\n// %%\r\nx")
	f.Add("`\n// %% b")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, cell := range Parse(text) {
			if cell.Line <= last || !hasCode(cell.Source) {
				t.Errorf("cell %q at line %d after %d", cell.Source, cell.Line, last)
			}
			last = cell.Line
		}
	})
}
