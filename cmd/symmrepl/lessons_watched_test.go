package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

var watchedLessons = flag.Bool("watched", false, "run under the sanitizer also the tutorials without mistakes")

// wrongOnPurpose lists the tutorials whose cells make mistakes to show them, with the kinds of
// their findings.
var wrongOnPurpose = map[string][]string{
	"04-one-shot-all-reduce": {"race between ranks"},
	"11-put-signal-wait":     {"signal over a signal not consumed"},
	aboutSanitizer:           {"order too weak", "out of bounds", "race between ranks", "race in a block"},
}

// TestWatchedLessons: in the cells and the solutions of the tutorials the sanitizer finds only the
// mistakes that they make on purpose. Without -watched it runs the tutorials that make some: the others
// take long, and TestSanitizerCorpus has right cells.
func TestWatchedLessons(t *testing.T) {
	if device() != "cpu" {
		t.Skip("the sanitizer needs the cpu device")
	}
	if testing.Short() {
		t.Skip("short: compiles kernels for the sanitizer")
	}
	files, err := filepath.Glob("../../tutorials/[0-9]*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("tutorials: %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lesson, err := tutorial.Parse(filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(lesson.Name, func(t *testing.T) { // alone: checks of exercises have limits of half a second, and watched kernels take their time
			if wrongOnPurpose[lesson.Name] == nil && !*watchedLessons {
				t.Skip("give -watched; make test-long does")
			}
			w := &watchedSession{t: t, Session: launchOn(t, 4, session.Hosts{})}
			w.evaluate("sanitize", "symm.Sanitize(true, 0)")
			kinds := map[string]bool{}
			run := func(cell tutorial.Cell, fails bool) {
				ctx, cancel := pace.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				reply := w.Eval(ctx, session.Cell{Name: cell.File, Line: cell.Line, Source: cell.Source})
				if len(reply.Errors) > 0 && !fails {
					t.Errorf("%s:%d fails: %v", cell.File, cell.Line, reply.Errors[0])
				}
				for _, f := range reply.Findings {
					if !slices.Contains(wrongOnPurpose[lesson.Name], f.Kind) {
						t.Errorf("%s:%d: the sanitizer reports\n%s", cell.File, cell.Line, reported(f))
					}
					kinds[f.Kind] = true
				}
			}
			for _, step := range lesson.Steps {
				if step.Cell != nil {
					run(*step.Cell, step.Cell.Fails)
				}
				if e := step.Exercise; e != nil {
					run(e.Start, false)
					run(e.Solution, false)
					run(e.Check, false)
					w.evaluate("sanitize", "symm.Sanitize(true, 0)") // the check of a kernel switches it off
				}
			}
			if got, want := slices.Sorted(maps.Keys(kinds)), wrongOnPurpose[lesson.Name]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the sanitizer finds %q, want %q", got, want)
			}
		})
	}
}
