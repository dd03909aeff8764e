package term

import (
	"slices"
	"strings"
	"testing"
)

// drawn returns a buffer with each fill shown as ".". bufferOf is its inverse.
func drawn(buffer []rune) string { return strings.ReplaceAll(string(buffer), string(fill), ".") }

func bufferOf(drawn string) []rune { return []rune(strings.ReplaceAll(drawn, ".", string(fill))) }

func TestLayOut(t *testing.T) {
	for _, c := range []struct {
		text   string
		cursor int
		buffer string
		pos    int
	}{
		{"", 0, "", 0},
		{"ab", 1, "ab", 1},
		{"a\nb", 1, "a\n...b", 1},
		{"a\nb", 2, "a\n...b", 5},
		{"\n\n漢", 3, "\n...\n...漢", 9},
	} {
		buffer, pos := layOut([]rune(c.text), c.cursor, 3)
		if drawn(buffer) != c.buffer || pos != c.pos {
			t.Errorf("%q, %d: laid out as %q, %d; want %q, %d", c.text, c.cursor, drawn(buffer), pos, c.buffer, c.pos)
		}
		for _, forward := range []bool{false, true} {
			if text, cursor := sourceOf(buffer, pos, 3, forward); string(text) != c.text || cursor != c.cursor {
				t.Errorf("%q, %d: read back as %q, %d", c.text, c.cursor, string(text), cursor)
			}
		}
	}
}

func TestSourceOfBrokenGroups(t *testing.T) {
	for _, c := range []struct {
		buffer  string
		pos     int
		forward bool
		text    string
		cursor  int
	}{
		{"a\n...b", 4, false, "a\nb", 1}, // Left from the beginning of a line
		{"a\n...b", 2, true, "a\nb", 2},  // Right from the end of a line
		{"a\n..b", 4, false, "ab", 1},    // Backspace at the beginning of a line
		{"a...b", 1, false, "ab", 1},     // Delete at the end of a line
		{"a\n......b", 8, true, "a\nb", 2},
		{"a" + string(stored) + "b", 2, true, "a\nb", 2},
	} {
		if text, cursor := sourceOf(bufferOf(c.buffer), c.pos, 3, c.forward); string(text) != c.text || cursor != c.cursor {
			t.Errorf("%q, %d: read as %q, %d; want %q, %d", c.buffer, c.pos, string(text), cursor, c.text, c.cursor)
		}
	}
}

func TestLinesAboveAndBelow(t *testing.T) {
	text := []rune("abc\nd\nefg")
	var above, below []int
	for cursor := range len(text) + 1 {
		if to, ok := lineAbove(text, cursor); ok {
			above = append(above, to)
		}
		if to, ok := lineBelow(text, cursor); ok {
			below = append(below, to)
		}
	}
	if want := []int{0, 1, 4, 5, 5, 5}; !slices.Equal(above, want) {
		t.Errorf("above: %v, want %v", above, want)
	}
	if want := []int{4, 5, 5, 5, 6, 7}; !slices.Equal(below, want) {
		t.Errorf("below: %v, want %v", below, want)
	}
}
