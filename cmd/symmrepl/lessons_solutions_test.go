package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

var (
	solutionTimes = flag.Int("solutions", 0, "how often to run the solutions of the tutorials on 1, 2 and 4 ranks; 0: once, on one rank, only those of every eighth tutorial unless -tutorials is given")
	busyProcesses = flag.Int("busy", 0, "how many processes keep computing beside the solutions of the tutorials and the corpus of the sanitizer")
)

// In fresh kernels of 1, 2 and 4 ranks the check of each exercise accepts the solution, and the
// other cells show the outputs that the text describes.
func TestSolutions(t *testing.T) {
	if testing.Short() {
		t.Skip("short: executes notebooks")
	}
	t.Parallel()
	lessons, err := tutorial.All()
	if err != nil {
		t.Fatal(err)
	}
	if device() != "cpu" {
		lessons = slices.DeleteFunc(lessons, func(lesson tutorial.Lesson) bool { return lesson.Name == aboutSanitizer })
	}
	times, sizes := 1, []int{1}
	if *solutionTimes > 0 {
		times, sizes = *solutionTimes, []int{1, 2, 4}
	} else {
		lessons = someOf(lessons)
	}
	h := jupyter(t)
	keepBusy(t, *busyProcesses)
	for round := range times {
		for _, ranks := range sizes {
			want := map[string]executedNotebook{}
			var files []string
			for _, lesson := range lessons {
				text, err := solved(lesson).Notebook(recorded(t, lesson, ranks))
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(h.dir, lesson.Name+".ipynb")
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
				want[file] = notebookOf(t, text)
			}
			executed := h.executeNotebooks(ranks, "first", files)
			for i, lesson := range lessons {
				t.Run(fmt.Sprintf("%s/%d/%d", lesson.Name, ranks, round+1), func(t *testing.T) {
					got := notebookOf(t, executed[[2]string{files[i], "first"}])
					t.Logf("the cells took %.1f s", got.took().Seconds())
					if ranks == 1 {
						compareOutcomes(t, solved(lesson), got, want[files[i]])
					} else {
						compareNotebooks(t, ranks, solved(lesson), 0, got, want[files[i]])
					}
				})
			}
		}
	}
}

// solved returns a lesson in which the start of each exercise is followed by its solution and its
// check.
func solved(lesson tutorial.Lesson) tutorial.Lesson {
	var steps []tutorial.Step
	for _, step := range lesson.Steps {
		if e := step.Exercise; e != nil {
			steps = append(steps, tutorial.Step{Text: e.Task, Cell: &e.Start}, tutorial.Step{Cell: &e.Solution},
				tutorial.Step{Cell: &e.Check})
		} else {
			steps = append(steps, step)
		}
	}
	lesson.Steps = steps
	return lesson
}

// recorded returns the outputs that the cells of a solved lesson must show on this number of ranks.
// For one rank it has only the outputs of the checks.
func recorded(t *testing.T, lesson tutorial.Lesson, ranks int) (r tutorial.Recording) {
	t.Helper()
	unsolved := make(tutorial.Recording, len(lesson.Runs()))
	if ranks > 1 {
		text, err := os.ReadFile(recordingOf(lesson, ranks))
		if err == nil {
			unsolved, err = tutorial.ParseRecording(string(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range lesson.Steps {
		switch {
		case step.Cell != nil:
			r, unsolved = append(r, unsolved[0]), unsolved[1:]
		case step.Exercise != nil:
			r, unsolved = append(r, nil, nil, tutorial.Shown{{Kind: tutorial.Stdout, Text: everybody(ranks) + tutorial.Correct + "\n"}}),
				unsolved[2:]
		}
	}
	return r
}

// betweenRanks lists by title the cells whose mistake needs a second rank. They do not fail on one
// rank.
var betweenRanks = []string{
	"Rank 0 wants eight elements, the others four.",
	"Rank 0 skips the barrier.",
	"Rank 1 tries to send more rows than it has.",
	"All ranks send all rows to rank 0, which has no room for so many.",
	"Rank 0 replays twice.",
}

// compareOutcomes compares a run on one rank with the solved lesson: whether each cell fails, and
// the outputs of the checks.
func compareOutcomes(t *testing.T, lesson tutorial.Lesson, got, want executedNotebook) {
	t.Helper()
	number := 0
	for i, cell := range got.Cells {
		if cell.Type != "code" {
			continue
		}
		number++
		shown, check, ran := shownBy(t, got, i, number), shownBy(t, want, i, number), lesson.Runs()[number-1]
		failed := slices.ContainsFunc(shown, func(p tutorial.Piece) bool { return strings.HasPrefix(p.Kind, tutorial.Error) })
		if failed != (ran.Fails && !slices.Contains(betweenRanks, ran.Title)) || check != nil && !reflect.DeepEqual(shown, check) {
			t.Errorf("cell %d, %s:%d, shows %q", i+1, ran.File, ran.Line, shown)
		}
	}
}
