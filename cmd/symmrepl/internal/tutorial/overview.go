package tutorial

import (
	"fmt"
	"strings"
)

// Overview returns the lessons as a table in Markdown, with links to their notebooks and the
// exercises that are solved, and after it a link to the first lesson with an exercise that is not.
func Overview(lessons []Lesson, progress Progress) string {
	var b strings.Builder
	b.WriteString("| Lesson | | Solved |\n|---|---|---|\n")
	next, solved, exercises := "", 0, 0
	for _, l := range lessons {
		number, _, _ := strings.Cut(l.Name, "-")
		done := progress[l.Name].solvedOf(l)
		all := len(l.Exercises())
		solved, exercises = solved+done, exercises+all
		state := fmt.Sprintf("%d of %d", done, all)
		switch {
		case done == all:
			state += " ✓"
		case next == "":
			next = fmt.Sprintf("[%s](%s.ipynb)", number, l.Name)
		}
		title, about, _ := strings.Cut(l.Title, ": ")
		fmt.Fprintf(&b, "| [%s %s](%s.ipynb) | %s | %s |\n", number, title, l.Name, about, state)
	}
	fmt.Fprintf(&b, "\n%d of %d exercises are solved.", solved, exercises)
	if next != "" {
		fmt.Fprintf(&b, " Go on with lesson %s.", next)
	}
	return b.String()
}

// solvedOf counts the exercises of the lesson that are solved. Titles that it does not have, of an
// earlier version, do not count.
func (r Reached) solvedOf(l Lesson) (n int) {
	for _, e := range l.Exercises() {
		if r.solved(e.Title) {
			n++
		}
	}
	return n
}
