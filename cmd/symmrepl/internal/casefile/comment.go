package casefile

import "strings"

// mark begins a block of comment lines that is a case.
const mark = "symm:"

// line is a line of a block, without the signs of the comment.
type line struct {
	number int
	column int // of its first byte, from 1
	text   string
}

// Marked reports whether a text may have cases.
func Marked(text string) bool { return strings.Contains(text, mark) }

// blocks returns the blocks of comments in a text, whose lines begin with a sign such as //.
func blocks(text, sign string) (found [][]line) {
	var open []line // the block that the next line may continue
	closed := func() {
		if open != nil {
			found = append(found, open)
		}
		open = nil
	}
	inside := false // in a comment of several lines
	for i, raw := range strings.Split(text, "\n") {
		raw = strings.TrimSuffix(raw, "\r")
		body := strings.TrimLeft(raw, " \t")
		at := len(raw) - len(body)
		if inside {
			content, _, ends := strings.Cut(body, "*/")
			if star := strings.TrimPrefix(content, "*"); !ends || star != content {
				at += len(content) - len(star)
				content = star
			}
			open = append(open, line{i + 1, at + 1, content})
			if ends {
				inside = false
				closed()
			}
			continue
		}
		if rest, ok := strings.CutPrefix(body, "/*"); ok && sign == "//" && strings.HasPrefix(strings.TrimLeft(rest, " \t*"), mark) {
			closed()
			content, _, ends := strings.Cut(rest, "*/")
			skipped := len(content) - len(strings.TrimLeft(content, "*"))
			open = []line{{i + 1, at + 3 + skipped, content[skipped:]}}
			if inside = !ends; ends {
				closed()
			}
			continue
		}
		rest, ok := strings.CutPrefix(body, sign)
		switch {
		case !ok:
			closed()
			continue
		case strings.HasPrefix(strings.TrimLeft(rest, " \t"), mark):
			closed()
			open = []line{{i + 1, at + len(sign) + 1, rest}}
		case open != nil:
			open = append(open, line{i + 1, at + len(sign) + 1, rest})
		}
	}
	closed()
	return found
}
