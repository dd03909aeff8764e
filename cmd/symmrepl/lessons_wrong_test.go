package main

import (
	"path/filepath"
	"regexp"
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
