package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/session"
)

var watchedLessons = flag.Bool("watched", false, "watch also the tutorials that take long when they are watched")

// longWatched are the tutorials that take more than a minute while they are watched: the one that measures launches thousands of kernels.
var longWatched = []string{"12-measure"}

// wrongOnPurpose are the kinds of findings of tutorials whose cells make mistakes to show them.
var wrongOnPurpose = map[string][]string{
	"04-one-shot-all-reduce": {"race between ranks"},
	"11-put-signal-wait":     {"signal over a signal not consumed"},
	aboutSanitizer:           {"order too weak", "out of bounds", "race between ranks", "race in a block"},
}

// TestWatchedLessons: the sanitizer finds nothing in the cells and the solutions of the tutorials, but for the mistakes that they show.
func TestWatchedLessons(t *testing.T) {
	if device() != "cpu" {
		t.Skip("kernels are watched on the cpu device")
	}
	if testing.Short() {
		t.Skip("the sanitizer's own kernels are compiled in long tests only")
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
		t.Run(lesson.Name, func(t *testing.T) {
			if slices.Contains(longWatched, lesson.Name) && !*watchedLessons {
				t.Skip("it takes long: -watched runs it")
			}
			w := &watchedSession{t: t, Session: launchOn(t, 4, session.Hosts{})}
			w.evaluate("sanitize", "symm.Sanitize(true, 0)")
			kinds := map[string]bool{}
			run := func(cell tutorial.Cell, fails bool) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				reply := w.Eval(ctx, session.Cell{Name: cell.File, Line: cell.Line, Source: cell.Source})
				if len(reply.Errors) > 0 && !fails {
					t.Errorf("%s:%d fails: %v", cell.File, cell.Line, reply.Errors[0])
				}
				for _, f := range reply.Findings {
					if !slices.Contains(wrongOnPurpose[lesson.Name], f.Kind) {
						t.Errorf("%s:%d: found\n%s", cell.File, cell.Line, reported(f))
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
				}
			}
			if got, want := slices.Sorted(maps.Keys(kinds)), wrongOnPurpose[lesson.Name]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}
