package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/session"
)

// readLesson reads a numbered tutorial.
func readLesson(t *testing.T, name string) tutorial.Lesson {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../tutorials", name+".go"))
	if err != nil {
		t.Fatal(err)
	}
	lesson, err := tutorial.Parse(name+".go", string(text))
	if err != nil {
		t.Fatal(err)
	}
	return lesson
}

// slowed makes ranks late, as `:slow` does.
func slowed(t *testing.T, s session.Session, setting string) {
	t.Helper()
	answers, err := s.Inspect(t.Context(), nil, session.Query{Topic: session.TopicSlow, Arg: setting})
	for _, a := range answers {
		if a.Err != nil {
			err = a.Err
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The lessons about signals and barriers show the same when a rank is late: their programs lack no
// wait.
func TestLessonsSlowed(t *testing.T) {
	if testing.Short() {
		t.Skip("short: runs the tutorials")
	}
	for name, setting := range map[string]string{
		"03-signals": "2 2ms", "04-one-shot-all-reduce": "1 1ms seed 7", "05-two-shot": "0,3 2ms launches", "11-put-signal-wait": "1 1ms signals",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const ranks = 4
			lesson, s := readLesson(t, name), launchHere(t, ranks)
			slowed(t, s, setting)
			got := runLesson(t, s, lesson, ranks, nil)
			compareLesson(t, lesson, ranks, got, filepath.Join("../../tutorials", name+".out"))
		})
	}
}

// The all-reduce of lesson 04 without its first barrier reads what a late rank has not filled yet.
func TestLessonSlowFinds(t *testing.T) {
	const ranks, barrier = 4, "  if (!symm::barrier(h, 0)) return;\n"
	lesson, s := readLesson(t, "04-one-shot-all-reduce"), launchHere(t, ranks)
	cells := lesson.Runs()
	run := func(cell tutorial.Cell) string {
		shown, failed := show(s, ranks, cell)
		if failed {
			t.Fatalf("%s\nfails:\n%s", cell.Source, tutorial.Recording{shown}.Format())
		}
		return tutorial.Recording{shown}.Format()
	}
	at := slices.IndexFunc(cells, func(c tutorial.Cell) bool { return strings.Contains(c.Source, barrier) })
	if at < 0 {
		t.Fatal("the lesson has no kernel with a barrier")
	}
	kernel, launch, ok := strings.Cut(cells[at].Source, "sum.Launch")
	if !ok {
		t.Fatalf("the lesson does not launch its kernel in\n%s", cells[at].Source)
	}
	run(cells[0])
	slowed(t, s, "1 400ms")
	sums := func(kernel string) []string {
		run(tutorial.Cell{Source: kernel}) // compiling takes longer than rank 1 is late
		run(tutorial.Cell{Source: "x.Fill(1000); h.Barrier(0); symm.Synchronize()"})
		var shown []string
		for line := range strings.Lines(run(tutorial.Cell{Source: "x.Fill(rank + 1)\nsum.Launch" + launch})) {
			if _, sum, ok := strings.Cut(line, "] "); ok {
				shown = append(shown, strings.TrimSpace(sum))
			}
		}
		return shown
	}
	if got := sums(kernel); len(got) == 0 || slices.ContainsFunc(got, func(sum string) bool { return sum != "10 10" }) {
		t.Errorf("with its barriers the all-reduce shows %q", got)
	}
	if got := sums(strings.Replace(kernel, barrier, "", 1)); !slices.Contains(got, "1008 1008") {
		t.Errorf("without its first barrier, with a rank that is late, the all-reduce shows %q", got)
	}
}
