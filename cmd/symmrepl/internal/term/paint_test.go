package term

import (
	"strings"
	"testing"
)

// A screen shows the rows of a tall entry around the cursor. The prompt covers the indent of the first one.
func TestWindow(t *testing.T) {
	const indent, columns, rows = 2, 6, 3
	lines := []rune("a\n  bb\n  ccccdd\n  漢e\n  f") // rows: a, bb, cccc, dd, 漢e, f
	at := func(s string) int { return strings.Index(string(lines), s) }
	for cursor, want := range map[int]string{
		0:          "a\n  bb\n  cccc",
		at("b"):    "bb\n  ccccdd",
		at("cccc"): "ccccdd\n  漢e",
		at("dd"):   "\n  漢e\n  f", // the prompt covers dd
		len(lines): "\n  漢e\n  f",
	} {
		from, to := window(lines, cursor, indent, columns, rows)
		if got := string(lines[from:to]); got != want {
			t.Errorf("cursor at %d: %q, want %q", cursor, got, want)
		}
	}
	if from, to := window(lines, 0, indent, columns, 6); from != 0 || to != len(lines) {
		t.Errorf("an entry that fits is cut: %d, %d", from, to)
	}
}
