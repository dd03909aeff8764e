package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/session"
)

// The numbered tutorials print the recorded outputs on four ranks, and some of them on two. Their checks
// accept right answers and refuse wrong ones.
func TestLessons(t *testing.T) {
	if testing.Short() {
		t.Skip("short: runs the tutorials")
	}
	files, err := filepath.Glob("../../tutorials/[0-9]*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("tutorials: %v, %v", files, err)
	}
	onTwo := someOf(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lesson, err := tutorial.Parse(filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		for ranks, suffix := range map[int]string{4: ".out", 2: ".2.out"} {
			t.Run(fmt.Sprint(lesson.Name, "/", ranks), func(t *testing.T) {
				t.Parallel()
				if ranks == 2 && !*record && !slices.Contains(onTwo, file) {
					t.Skip("give -tutorials; make test-long does")
				}
				if lesson.Name == aboutSanitizer && device() != "cpu" {
					t.Skip("the sanitizer watches the cpu device")
				}
				file := strings.TrimSuffix(file, ".go") + suffix
				var wrong []wrongAnswer
				if ranks == 4 {
					wrong = wrongAnswers(t, lesson)
				}
				got := runLesson(t, launchHere(t, ranks), lesson, ranks, wrong)
				if *record {
					if err := os.WriteFile(file, []byte(got.Format()), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				compareLesson(t, lesson, ranks, got, file)
			})
		}
	}
}

// aboutSanitizer is the lesson that needs the cpu device.
const aboutSanitizer = "16-wrong-results"

// The lessons that do not ask for one host show the same on two hosts, with a network that delays
// and reorders messages. With that network some weak signals arrive early. Without -tutorials only
// lessons about networks run.
func TestLessonAcrossHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("short: runs the tutorials")
	}
	if device() != "cpu" {
		t.Skip("the null network needs the cpu device")
	}
	t.Setenv("SYMMREPL_NET", "null delay=200us reorder=on seed=7")
	const ranks = 4
	varying := map[string]string{ // a pattern of a lesson's first output that varies
		"11-put-signal-wait": `weak: [1-9]\d* of 100 early`,
		"13-hierarchical":    `all_reduce .* hierarchical, \d+ bytes of this rank over the null network`,
	}
	files, err := filepath.Glob("../../tutorials/[0-9]*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("tutorials: %v, %v", files, err)
	}
	var crossing []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		file = strings.TrimSuffix(file, ".go")
		if strings.Contains(string(text), needsOneHost) {
			continue
		}
		crossing = append(crossing, filepath.Base(file))
		lesson, err := tutorial.Parse(filepath.Base(file)+".go", string(text))
		if err != nil {
			t.Fatal(err)
		}
		hosts, err := session.ParseHosts("2", ranks)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(lesson.Name, func(t *testing.T) {
			t.Parallel()
			varies := varying[lesson.Name]
			if varies == "" && !*everyTutorial {
				t.Skip("give -tutorials; make test-long does")
			}
			launched := launchOn(t, ranks, hosts)
			if lesson.Name == "11-put-signal-wait" { // so long that ranks look in between also on a busy machine
				settings := session.Query{Topic: session.TopicNetwork, Arg: "delay 5ms"}
				if _, err := launched.Inspect(t.Context(), nil, settings); err != nil {
					t.Fatal(err)
				}
			}
			got := runLesson(t, launched, lesson, ranks, nil)
			compareLesson(t, lesson, ranks, got, file+".out")
			if varies == "" {
				return
			}
			first := slices.IndexFunc(lesson.Runs(), func(c tutorial.Cell) bool { return c.Varies })
			if shown := (tutorial.Recording{got[first]}).Format(); !regexp.MustCompile(varies).MatchString(shown) {
				t.Errorf("want %s in:\n%s", varies, shown)
			}
		})
	}
	if len(crossing) < 8 {
		t.Errorf("only the lessons %q run on two hosts", crossing)
	}
}

// needsOneHost is in the text of lessons that do not run on several hosts.
const needsOneHost = "Start it on one host"

// runLesson returns the outputs of a lesson's cells in a new session. The check of each exercise
// must accept the right answers, and must refuse the start and the wrong answers.
func runLesson(t *testing.T, s session.Session, lesson tutorial.Lesson, ranks int, wrong []wrongAnswer) (got tutorial.Recording) {
	t.Helper()
	run := func(cell tutorial.Cell, fails bool) tutorial.Shown {
		shown, failed := show(s, ranks, cell)
		switch {
		case failed && !fails:
			t.Fatalf("%s:%d fails:\n%s", cell.File, cell.Line, tutorial.Recording{shown}.Format())
		case !failed && fails:
			t.Fatalf("%s:%d does not fail:\n%s", cell.File, cell.Line, cell.Source)
		}
		return shown
	}
	right := rightAnswers(t, lesson)
	for _, step := range lesson.Steps {
		if step.Cell != nil {
			got = append(got, run(*step.Cell, step.Cell.Fails))
		}
		e := step.Exercise
		if e == nil {
			continue
		}
		got = append(got, run(e.Start, false), run(e.Check, true))
		for _, w := range wrong {
			if w.exercise == e.Title && (!w.emulated || device() == "cpu") {
				w.refused(t, s, ranks, e.Check)
			}
		}
		for _, answer := range right[e.Title] {
			run(answer, false)
			if shown := run(e.Check, false); len(shown) != 1 || shown[0].Text != everybody(ranks)+tutorial.Correct+"\n" {
				t.Errorf("%s:%d: to the right answer\n%s\nthe check prints\n%s",
					answer.File, answer.Line, answer.Source, tutorial.Recording{shown}.Format())
			}
		}
		run(e.Start, false) // the other steps continue from the start, not from the solution
	}
	return got
}

// compareLesson compares the outputs of a lesson's cells with a recording.
func compareLesson(t *testing.T, lesson tutorial.Lesson, ranks int, got tutorial.Recording, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := tutorial.ParseRecording(string(text))
	if err != nil || len(want) != len(got) {
		t.Fatalf("%s has %d cells, %d were run (%v): record it again with -record", file, len(want), len(got), err)
	}
	for i, cell := range lesson.Runs() {
		if g, w := comparable(t, ranks, got[i]), comparable(t, ranks, want[i]); !cell.Varies && g != w {
			t.Errorf("%s:%d showed\n%s\nwant\n%s", cell.File, cell.Line, g, w)
		}
	}
}

// everybody returns the prefix of a line that all ranks have printed.
func everybody(ranks int) string {
	all := make([]int, ranks)
	for r := range all {
		all[r] = r
	}
	return session.Prefix(all, ranks)
}

// show runs a cell and returns its outputs, without the session's remarks.
func show(s session.Session, ranks int, cell tutorial.Cell) (shown tutorial.Shown, failed bool) {
	add := func(kind, text string) {
		if last := len(shown) - 1; last >= 0 && shown[last].Kind == kind {
			shown[last].Text += text
		} else if text != "" {
			shown = append(shown, tutorial.Piece{Kind: kind, Text: text})
		}
	}
	text := func(write func(*render.Printer)) string {
		var b strings.Builder
		p := render.New(&b, &b, ranks, false)
		write(p)
		p.CloseLine()
		return b.String()
	}
	kinds := map[session.Stream]string{session.Stdout: tutorial.Stdout, session.Stderr: tutorial.Stderr}
	ctx, cancel := context.WithTimeout(context.Background(), patience())
	defer cancel()
	reply := s.Eval(ctx, session.Cell{Name: cell.File, Line: cell.Line, Source: cell.Source, Output: func(o session.Output) {
		if kind := kinds[o.Stream]; kind != "" {
			add(kind, text(func(p *render.Printer) { p.Output(o) }))
		}
	}})
	add(tutorial.Value, text(func(p *render.Printer) { p.Reply(session.Reply{Values: reply.Values}) }))
	add(tutorial.Finding, text(func(p *render.Printer) { p.Reply(session.Reply{Findings: reply.Findings}) }))
	if len(reply.Errors) > 0 {
		add(tutorial.Error+" "+string(reply.Errors[0].Kind), text(func(p *render.Printer) { p.Reply(session.Reply{Errors: reply.Errors}) }))
	}
	return shown, len(reply.Errors) > 0
}

// unsteady lists the texts that differ from run to run or between devices (times, pointers, the
// device of a tensor), and their replacements.
var unsteady = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{devices, "on a device"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|us|ms|s)\b`), "a while"},
	{regexp.MustCompile(`\b0x[0-9a-f]{6,}\b`), "a pointer"},
}

// comparable returns the outputs of each rank, without texts that differ from run to run or between
// compilers. If waits were given up, it names only the ranks that gave up: on a busy machine
// another rank's failure may release a rank before its own time limit.
func comparable(t *testing.T, ranks int, shown tutorial.Shown) string {
	t.Helper()
	if gaveUp := ranksThatGaveUp(t, ranks, shown); len(gaveUp) > 0 {
		return fmt.Sprintf("waits were given up by the ranks %v", gaveUp)
	}
	var b strings.Builder
	for _, piece := range shown {
		if piece.Kind == tutorial.Finding {
			b.WriteString(findingsIn(piece.Text))
		}
	}
	listed := map[string]bool{}
	for r := range ranks {
		fmt.Fprintf(&b, "rank %d\n", r)
		for _, piece := range shown {
			if piece.Kind == tutorial.Finding {
				continue
			}
			said := linesOf(t, r, ranks, piece.Text)
			switch kind, _ := strings.CutPrefix(piece.Kind, tutorial.Error+" "); session.Kind(kind) {
			case session.KindCompile:
				said = "a compiler's error\n"
			case session.KindPanic:
				said = listedFinding.ReplaceAllStringFunc(said, func(line string) string {
					listed[kindAndLines(line)] = true
					return ""
				})
			}
			b.WriteString(piece.Kind + ": " + said)
		}
	}
	text := b.String() + strings.Join(slices.Sorted(maps.Keys(listed)), "\n")
	for _, u := range unsteady {
		text = u.pattern.ReplaceAllString(text, u.instead)
	}
	return text
}

// findingsIn returns the parts of the sanitizer's reports that are the same in every run: the
// kinds, and the places of the accesses. The order of a run decides which threads and ranks a
// report names.
func findingsIn(text string) string {
	var found []string
	var kind string
	var places []string
	end := func() {
		slices.Sort(places)
		if kind != "" {
			found = append(found, kind+" at "+strings.Join(places, " and ")+"\n")
		}
		places = nil
	}
	for line := range strings.Lines(text) {
		line = reportPrefix.ReplaceAllString(line, "")
		if place := reportPlace.FindString(line); place != "" {
			places = append(places, strings.TrimSpace(place))
		} else if line[0] != ' ' {
			end()
			kind, _, _ = strings.Cut(strings.TrimSpace(line), ":")
		}
	}
	end()
	slices.Sort(found)
	return strings.Join(slices.Compact(found), "")
}

var (
	reportPrefix = regexp.MustCompile(`^\[[0-9,-]+\] `)
	reportPlace  = regexp.MustCompile(`^  [^ :]+:\d+(:\d+)?`)
)

// listedFinding matches a finding in the list that a check prints, a line made by
// symmem.Finding.String. The order of a run also decides which ranks have such a line.
var listedFinding = regexp.MustCompile(`(?m)^ *- [a-z ]+[:;].* at \S+:\d+.*\n`)

// kindAndLines returns the kind of a listed finding and the lines of its accesses.
func kindAndLines(listed string) string {
	kind, _, _ := strings.Cut(strings.TrimLeft(listed, " -"), ":")
	var lines []string
	for _, m := range regexp.MustCompile(` at \S+:(\d+)`).FindAllStringSubmatch(listed, -1) {
		lines = append(lines, m[1])
	}
	slices.Sort(lines)
	return kind + " at the lines " + strings.Join(lines, " and ")
}

// ranksThatGaveUp returns the ranks that report that they gave up a wait.
func ranksThatGaveUp(t *testing.T, ranks int, shown tutorial.Shown) (gaveUp []int) {
	t.Helper()
	for r := range ranks {
		for _, piece := range shown {
			switch kind, _ := strings.CutPrefix(piece.Kind, tutorial.Error+" "); session.Kind(kind) {
			case session.KindTimeout, session.KindDeadlock, session.KindInterrupted, session.KindPeer:
				if linesOf(t, r, ranks, piece.Text) != "" && !slices.Contains(gaveUp, r) {
					gaveUp = append(gaveUp, r)
				}
			}
		}
	}
	return gaveUp
}

// linesOf returns the lines that a rank has printed.
func linesOf(t *testing.T, rank, ranks int, text string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(text) {
		list, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
		of, err := session.ParseRanks(list, ranks)
		if !ok || err != nil {
			t.Fatalf("a line without ranks: %q", line)
		}
		if slices.Contains(of, rank) {
			b.WriteString(rest)
		}
	}
	return b.String()
}

// A user steps through a tutorial at the prompt, leaves it, and later goes on at the same step.
func TestTutorialAtThePrompt(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	run := func(entries string, args ...string) result {
		return h.run(entries, append(args, "-n", "2", "--device", device())...)
	}
	expect := func(r result, status int, texts ...string) {
		t.Helper()
		for rest, i := r.out+r.err, 0; i < len(texts); i++ {
			_, after, found := strings.Cut(rest, texts[i])
			if !found || r.status != status {
				t.Fatalf("%q is missing or out of order; status %d, want %d:\n%s%s", texts[i], r.status, status, r.out, r.err)
			}
			rest = after
		}
	}
	expect(run("", "tutorial"), 0, "01-hello-ranks", "0 of 3  Hello, ranks", "\n\nsymmrepl tutorial 01 begins one.\n")
	expect(run(":tutorial\n"), 0, "0 of 3  Hello, ranks", "\n\n:tutorial 01 begins one here, `symmrepl tutorial 01` at a shell.\n")
	expect(run(":next\n:where\n:next\n:next\n:next\n:next\n:prev\n:prev\n:again\n", "tutorial", "01"), 0, "step 1 of 11", "# Hello, ranks",
		"    symm.Rank()", "[0] 0\n[1] 1\n",
		"step 2 of 11", "[0,1] 2\n", "01-hello-ranks, step 2 of 11: Hello, ranks", `exercise "The left neighbour": not solved yet`,
		"step 6 of 11", "100 / rank", "[1] 100\n", "step 4 of 11", "[1] I am the last\n")
	expect(run("square\n:next\n:next\n:next\n:next\n:hint\nfunc left(r, n int) int { return (r+n-1) % n }\n:check\n", "tutorial", "hello"), 0,
		"Step 6 of 11", "step 6 of 11", "[1] 1\n", "Exercise: Repair: first and last", "Exercise: The left neighbour", "Hint 1 (2 more): ", "[0,1] correct\n")
	expect(run(":next\n", "tutorial", "1"), 0, "Step 10 of 11", "step 11 of 11", "Read on")
	expect(run(":tutorial 1 10\n:check\n"), 1, "step 10 of 11", "left(0, 2) is -1; ranks are 0 to 1")
	expect(run(":tutorial 1 10\n:restart\n:tutorial 01-hello-ranks 10\n"), 0, "step 10 of 11", "step 10 of 11",
		"`:tutorial 01-hello-ranks 10` runs the cells before this step again")
	expect(run("", "tutorial"), 0, "01-hello-ranks", "to the end", "1 of 3") // returning to an earlier step keeps the progress
	expect(run(":next\n"), 1, ":next: no tutorial is open; :tutorial lists them")
	expect(run("", "tutorial", "nothing"), 2, `no tutorial is called "nothing"`)
}
