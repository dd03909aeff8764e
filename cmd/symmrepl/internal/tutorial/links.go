package tutorial

import (
	"regexp"
	"strings"
)

// mentions matches the command that opens a tutorial, other code in backquotes, and a tutorial by its
// number.
var mentions = regexp.MustCompile("`:tutorial (\\d\\d)`|`[^`]*`|\\b[Tt]utorial (\\d\\d)\\b")

// linked returns Markdown for a notebook: where the text names a tutorial, it has a link to that
// tutorial's notebook. The names of the tutorials are given by their numbers. Indented code stays as
// it is.
func linked(text string, names map[string]string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") {
			b.WriteString(line)
			continue
		}
		b.WriteString(mentions.ReplaceAllStringFunc(line, func(found string) string {
			m := mentions.FindStringSubmatch(found)
			name := names[m[1]+m[2]]
			if name == "" {
				return found
			}
			return "[" + strings.Trim(found, "`:") + "](" + name + ".ipynb)"
		}))
	}
	return b.String()
}

// byNumber returns the names of tutorials by their numbers.
func byNumber(lessons []Lesson) map[string]string {
	names := map[string]string{}
	for _, l := range lessons {
		number, _, _ := strings.Cut(l.Name, "-")
		names[number] = l.Name
	}
	return names
}
