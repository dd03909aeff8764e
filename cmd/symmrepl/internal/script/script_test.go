package script

import (
	"reflect"
	"testing"
)

func TestCells(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []Cell
	}{
		"no separator":           {"x := 1\ny := 2", []Cell{{1, "", "x := 1\ny := 2"}}},
		"titles and lines":       {"a\n// %% second\nb\nc\n// %%\nd\n", []Cell{{1, "", "a\n"}, {3, "", "b\nc\n"}, {6, "", "d\n"}}},
		"ranks":                  {"// %%rank [0,2]\nx\n", []Cell{{2, "[0,2]", "x\n"}}},
		"header without code":    {"//go:build ignore\n\n// About.\n\n// %%\nx\n", []Cell{{6, "", "x\n"}}},
		"empty cells":            {"// %%\n\n// %%\n// only words\n", nil},
		"separators begin lines": {"x // %% no\n // %% no\n", []Cell{{1, "", "x // %% no\n // %% no\n"}}},
		"nothing":                {"", nil},
	} {
		if got := Cells(test.text); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func FuzzCells(f *testing.F) {
	f.Add("a\n// %% b\nc")
	f.Add("// %%rank [0]\n\n// %%\r\nx")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, cell := range Cells(text) {
			if cell.Line <= last || !hasCode(cell.Source) {
				t.Errorf("cell %q at line %d after %d", cell.Source, cell.Line, last)
			}
			last = cell.Line
		}
	})
}
