package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/session"
)

// wrongAnswer is a plausible wrong answer to an exercise, from the folder tutorials/wrong.
type wrongAnswer struct {
	exercise string // title
	says     string // part of what the check must say
	emulated bool   // only the sanitizer finds it, or the order in which the cpu device runs threads
	code     tutorial.Cell
}

// saysLine matches the first line of a wrong answer.
var saysLine = regexp.MustCompile(`^// says( on the cpu device)?: (.+)$`)

// leastWrong is the number of wrong answers that every exercise has at least.
const leastWrong = 5

// refusedWithin is the time within which a check refuses a wrong answer.
const refusedWithin = 5 * time.Second

// wrongAnswers reads the wrong answers to the exercises of a lesson.
func wrongAnswers(t *testing.T, lesson tutorial.Lesson) (list []wrongAnswer) {
	t.Helper()
	file := filepath.Join("wrong", lesson.Name+".go")
	count := map[string]int{}
	for _, c := range answersIn(t, lesson, file, "wrong") {
		first, code, ok := strings.Cut(c.Source, "\n")
		m := saysLine.FindStringSubmatch(first)
		if !ok || m == nil {
			t.Fatalf("%s:%d: a first line %q is expected", file, c.Line, saysLine)
		}
		if strings.HasPrefix(code, "@@\n") {
			i := slices.IndexFunc(lesson.Exercises(), func(e *tutorial.Exercise) bool { return e.Title == c.Title })
			if code, ok = differently(lesson.Exercises()[i].Solution.Source, code); !ok {
				t.Fatalf("%s:%d: a part that is to differ is not in the solution, or more than once", file, c.Line)
			}
		}
		count[c.Title]++
		list = append(list, wrongAnswer{c.Title, m[2], m[1] != "", tutorial.Cell{File: file, Line: c.Line + 1, Source: code}})
	}
	for _, e := range lesson.Exercises() {
		if count[e.Title] < leastWrong {
			t.Errorf("%s has %d answers to %q, want %d", file, count[e.Title], e.Title, leastWrong)
		}
	}
	return list
}

// differently returns a solution with the differences, as in a unified diff: after a line "@@" those of
// one place, which must be in the solution once.
func differently(solution, differences string) (code string, ok bool) {
	code = strings.TrimSpace(solution) + "\n"
	for _, place := range strings.Split(strings.TrimRight("\n"+differences, "\n"), "\n@@\n")[1:] {
		var before, after strings.Builder
		for line := range strings.Lines(place + "\n") {
			if !strings.HasPrefix(line, "+") {
				before.WriteString(strings.TrimLeft(line[:1], " -") + line[1:])
			}
			if !strings.HasPrefix(line, "-") {
				after.WriteString(strings.TrimLeft(line[:1], " +") + line[1:])
			}
		}
		if strings.Count("\n"+code, "\n"+before.String()) != 1 {
			return "", false
		}
		code = strings.TrimPrefix(strings.Replace("\n"+code, "\n"+before.String(), "\n"+after.String(), 1), "\n")
	}
	return code, true
}

func TestDifferently(t *testing.T) {
	const solution = "a\nb\n\n  c\nb"
	for _, c := range []struct {
		differences, code string // no code: they do not fit
	}{
		{"@@\n-  c\n+  d\n+e\n", "a\nb\n\n  d\ne\nb\n"}, {"@@\n-a\n@@\n   c\n-b\n\n", "b\n\n  c\n"}, {"@@\n b\n\n+x\n   c", "a\nb\n\nx\n  c\nb\n"},
		{"@@\n-b\n+c", ""}, {"@@\n-c\n", ""}, {"@@\n+c\n", ""},
	} {
		if code, ok := differently(solution, c.differences); code != c.code || ok != (c.code != "") {
			t.Errorf("%q: %q, %t", c.differences, code, ok)
		}
	}
}

// refused checks that the check refuses the answer, in time and with its reason. On a busy machine
// it may refuse it again, and the shortest time of three counts.
func (w wrongAnswer) refused(t *testing.T, s session.Session, ranks int, check tutorial.Cell) {
	t.Helper()
	var took time.Duration
	for range 3 {
		if shown, failed := show(s, ranks, w.code); failed {
			t.Fatalf("%s:%d fails:\n%s", w.code.File, w.code.Line, tutorial.Recording{shown}.Format())
		}
		start := time.Now()
		shown, failed := show(s, ranks, check)
		took = time.Since(start)
		if said := (tutorial.Recording{shown}).Format(); !failed || !strings.Contains(said, w.says) {
			t.Errorf("%s:%d: the check must say %q, and says\n%s", w.code.File, w.code.Line, w.says, said)
			return
		}
		if took <= refusedWithin {
			return
		}
	}
	t.Errorf("%s:%d is refused after %v, want %v at most", w.code.File, w.code.Line, took, refusedWithin)
}
