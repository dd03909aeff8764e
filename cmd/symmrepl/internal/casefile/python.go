package casefile

import "strings"

// kernelsOf returns the text of the strings in a Python file that contain kernels: strings in three
// quotes with the word __global__. Everything else becomes blanks, so that lines keep their numbers
// and columns.
func kernelsOf(text string) string {
	kept := []byte(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if kept[i] != '\n' {
				kept[i] = ' '
			}
		}
	}
	done := 0 // everything before it is kept or blank
	for i := 0; i < len(text); {
		end, body, long := stringAt(text, i)
		switch {
		case end > i:
			if content := text[body : end-3*b2i(long)]; long && strings.Contains(content, "__global__") {
				blank(done, body)
				done = body + len(content)
			}
			i = end
		case text[i] == '#':
			if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
				i += k
			} else {
				i = len(text)
			}
		default:
			i++
		}
	}
	blank(done, len(text))
	return string(kept)
}

// stringAt returns the end of the string literal that begins at i, the beginning of its contents,
// and whether it has three quotes. end is i if none begins there.
func stringAt(text string, i int) (end, body int, long bool) {
	q := text[i]
	if q != '"' && q != '\'' {
		return i, i, false
	}
	quote := string(q)
	if strings.HasPrefix(text[i:], strings.Repeat(quote, 3)) {
		quote, long = strings.Repeat(quote, 3), true
	}
	body = i + len(quote)
	for k := body; k < len(text); k++ {
		switch {
		case strings.HasPrefix(text[k:], quote):
			return k + len(quote), body, long
		case text[k] == '\\':
			k++
		case text[k] == '\n' && !long:
			return k, body, false
		}
	}
	return len(text), body, false
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
