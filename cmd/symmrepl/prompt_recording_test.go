//go:build !race

package main

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
)

var update = flag.Bool("update", false, "record docs/session.md, the session of docs/debugging.md, and the README's session and picture again")

// recording is the page that records a session at a terminal. The race detector would slow down the
// workers that look up its pages of documentation.
const recording = "../../docs/session.md"

// readmePicture shows the session of the README as a terminal does, line after line.
const readmePicture = "../../docs/pictures/session.svg"

// chapter is a part of the recorded session, with its title and introduction.
type chapter struct {
	title, text string
	entries     []string // lines typed; "^C" is the key, pressed after the table of waits has appeared
}

var chapters = []chapter{
	{"Names", "The message for an undefined name suggests similar names. A package that is used without an import is imported; if several packages have its name, the note names the one that is meant and the others.", []string{
		`data := []int{3, 1, 2}`,
		`fmt.Printl(data)`,
		`dtaa[0]`,
		`println(len(data)`,
		``,
		`sort.Ints(data)`,
		`data`,
		`rank = symm.Rank()`,
		`rank := symm.Rank()`,
	}},
	{"Types", "The whole cell is checked before any of it runs. A caret marks the code that a message is about.", []string{
		`var ratio float64 = data[0]`,
		`mean := 1.5 * len(data)`,
		`strings.Repeat("ab")`,
		`if rank = 3 { fmt.Println("last") }`,
		`func sum(xs []int) int {`,
		`	total := 0`,
		`	for _, x := range xs { total += x }`,
		`}`,
		`n := strconv.Atoi("12")`,
		`:type strconv.Atoi("12")`,
	}},
	{"Panics", "A panic fails the cell on the ranks where it happens, and the message shows the line. All earlier definitions stay.",
		[]string{
			`func at(xs []int, i int) int {`,
			`	return xs[i]`,
			`}`,
			`at(data, rank)`,
			`var p *struct{ X int }`,
			`p.X`,
			`sum := func(xs []int) (total int) { for _, x := range xs { total += x }; return }`,
			`sum(data)`,
		}},
	{"Waits", "Rank 2 waits for a signal that nobody sends. The other ranks have finished the cell, so the wait cannot end: after a moment it becomes an error, and tensors " +
		"keep their values. Then the others wait for rank 0, which may still come. The session reports that, and Ctrl-C ends it.", []string{
		`t := symm.Empty(symm.F32, 4).Fill(rank)`,
		`h := symm.Rendezvous(t)`,
		`if rank == 2 { h.WaitSignal(3, 0); symm.Synchronize() }`,
		`if rank == 0 { time.Sleep(time.Hour) }; h.Barrier(1)`,
		`^C`,
		`symm.OneShotAllReduce(t, "sum").Float32s()`,
	}},
	{"Kernels", "The arguments of a launch are compared with the kernel's parameters before the kernel runs.", []string{
		"k := symm.Compile(`__global__ void scale(float* x, int n, float a) { if (threadIdx.x < n) x[threadIdx.x] *= a; }`)",
		`k.Launch(symm.Grid(1), symm.Block(32), t, 2.5, 10)`,
		`k.Launch(symm.Grid(1), symm.Block(32), t, 4)`,
		`k.Launch(symm.Grid(1), symm.Block(32), t, 4, 1<<24+1)`,
		`t`,
		`symm.OneShotAllReduce(t, "median")`,
		"twice := symm.Compile(`template <class T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }`, \"twice<float>\")",
		`twice`,
	}},
	{"Editing a kernel", "A mistake in a kernel is shown at the snippet's own line. `:edit` opens a cell in `$EDITOR`, here a program that mends one mistake at a time, " +
		"then shows and runs what was saved. Up recalls an edited cell as a block, too.", []string{
		"flip := symm.Compile(`",
		`__global__ void flip(float* x, int n) {`,
		`    int i = threadIdx.x, j = n - 2 - i;`,
		`    if (i < j) { float y = x[i]; x[i] = x[j]; x[j] = y }`,
		"}`)",
		`:edit`,
		`flip.Launch(symm.Grid(1), symm.Block(4), t.Arange(), 4); t.Float32s()`,
		`:edit 35`,
		`flip.Launch(symm.Grid(1), symm.Block(4), t.Arange(), 4); t.Float32s()`,
	}},
	{"Habits", "What other languages have is answered with what Go and symm have in its place.", []string{
		`t[0:2]`,
		`t == t.Slice(0, 4)`,
		`symm.Empty(4)`,
		`symm.Empty("float32", 4)`,
		`dist.all_reduce(t)`,
		`k<<<1, 32>>>(t, 4, 10)`,
		`for i in range(4):`,
		`	t.Fill(i)`,
		`k.Launch(symm.Grid(1), symm.Block(32), t, 4, 10);`,
		`put_with_signal?`,
	}},
	{"Races", "Kernels of one cell are watched, here twice: the report names both lines, and what was reported before takes one line.",
		[]string{
			"mirror := symm.Compile(`",
			`__global__ void mirror(int* x) {`,
			`    __shared__ int s[64];`,
			`    s[threadIdx.x] = x[threadIdx.x];`,
			`    x[threadIdx.x] = s[63 - threadIdx.x];`,
			"}`)",
			`m := symm.Local(symm.I32, 64).Arange()`,
			`:sanitize mirror.Launch(symm.Grid(1), symm.Block(64), m)`,
			`:sanitize mirror.Launch(symm.Grid(1), symm.Block(64), m)`,
			`:sanitize off`,
			`m.Fill(7);`,
		}},
	{"A rank that ends", "A fresh worker takes its place, without its variables. The others keep theirs. If the rank ends while no cell runs, a line above the prompt says so at once; in a notebook it appears below the last cell.", []string{
		`kept := 10 * rank`,
		`import "os"; if rank == 1 { os.Exit(3) }`,
		`kept`,
		`:on 1 kept, rank := 10, 1; kept + rank`,
		`kept + rank`,
	}},
	{"A lesson", "", []string{
		`:tutorial 01`,
		`:next`,
		`:where`,
	}},
	{"Looking around", "", []string{
		`:vars`,
		`:type h`,
		`:doc h.PutSignal`,
		`:doc at`,
		`:quit!`,
	}},
}

// TestRecording checks that docs/session.md is the current output of the program, except for times.
// With -update it records the page again.
func TestRecording(t *testing.T) {
	if device() != "cpu" {
		t.Skip("docs/session.md was recorded on the cpu device")
	}
	h := newHome(t, 4)
	h.env = []string{"VISUAL=", "EDITOR=" + editor(t, `grep -q ' = y }' "$1" && sed -i 's/ = y }/ = y; }/' "$1" || sed -i 's/n - 2/n - 1/' "$1"`)}
	x := h.terminal("-n", "4", "--device", "cpu")
	for _, c := range chapters {
		for _, line := range c.entries {
			switch line {
			case "^C":
				x.expect("for rank 0: the barrier on channel 1, for ")
				x.send(ctrlC)
				x.expect("^C interrupting")
			default:
				x.expectPrompt()
				x.send(line + "\r")
				x.expect(strings.TrimSpace(line) + "\n")
			}
		}
	}
	x.exit(0)
	got := page(x)
	if *update {
		if err := os.WriteFile(recording, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	if timeless(got) != timeless(string(want)) {
		t.Errorf("docs/session.md is out of date; record it again by: go test ./cmd/symmrepl -run TestRecording -update\nThe program shows\n%s", got)
	}
}

// expectPrompt waits for a prompt, for that of a continued line, or for that of a cell that stands.
func (x *terminal) expectPrompt() {
	x.t.Helper()
	x.expectAny("symm> ", "... ", "stopped> ")
}

// retype types the entries of a session that a page shows, each at its prompt.
func (x *terminal) retype(session string) {
	x.t.Helper()
	for line := range strings.Lines(session) {
		for _, prompt := range []string{"symm> ", "  ... ", "stopped> "} {
			if entry, typed := strings.CutPrefix(line, prompt); typed {
				x.expectPrompt()
				x.send(strings.TrimSuffix(entry, "\n") + "\r")
				x.expect(strings.TrimSpace(entry))
			}
		}
	}
}

// TestDebuggingPage checks that the session in docs/debugging.md is the current output of the program.
// With -update it records the session again.
func TestDebuggingPage(t *testing.T) {
	t.Parallel()
	if device() != "cpu" {
		t.Skip("docs/debugging.md shows the cpu device")
	}
	const path, begin = "../../docs/debugging.md", "```\n$ symmrepl -n 2 --device cpu\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, session, begins := strings.Cut(string(text), begin)
	want, _, ends := strings.Cut(session, "```\n")
	if !begins || !ends {
		t.Fatalf("%s has no session that begins with %q", path, begin)
	}
	x := newHome(t, 2).terminal("-n", "2", "--device", "cpu")
	x.retype(want)
	x.expectPrompt()
	x.send(":quit!\r")
	x.expect(":quit!\n")
	x.exit(0)
	got, _, _ := strings.Cut(shown(x), "stopped> :quit!\n")
	switch {
	case got == want:
	case *update:
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), begin+want, begin+got, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is out of date; record it again by: go test ./cmd/symmrepl -run TestDebuggingPage -update\nThe program shows\n%s", path, got)
	}
}

var (
	durations = regexp.MustCompile(`\d+(\.\d+)?( ?)s\b`)
	// said only if the fresh worker takes long to start
	together = regexp.MustCompile(`(?m)^.* exited with .*; the ranks are brought together again\n`)
)

// timeless returns the text without what depends on the speed of the machine.
func timeless(text string) string {
	text = compiling.ReplaceAllString(together.ReplaceAllString(text, ""), "")
	return durations.ReplaceAllString(text, "1${2}s")
}

// TestReadmeSession checks that the session at the beginning of the README is the current output of
// the program, except for times, and that the picture above it shows that session. With -update it
// records both again.
func TestReadmeSession(t *testing.T) {
	t.Parallel()
	if device() != "cpu" {
		t.Skip("the README shows the cpu device")
	}
	const readme, begin = "../../README.md", "$ symmrepl -n 4\n"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, session, begins := strings.Cut(string(text), "```\n"+begin)
	want, _, ends := strings.Cut(session, "```\n")
	if !begins || !ends {
		t.Fatal("README.md has no session of `symmrepl -n 4`")
	}
	x := newHome(t, 4).terminal("-n", "4", "--device", "cpu")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 60, Cols: 100}); err != nil { // as wide as a picture can be read
		t.Fatal(err)
	}
	x.retype(want)
	x.expectPrompt()
	x.send(":quit!\r")
	x.expect(":quit!\n")
	x.exit(0)
	got := strings.TrimSuffix(shown(x), "symm> :quit!\n")
	picture := func(session string) string { return sessionPicture(begin + session) }
	if *update {
		err := os.WriteFile(readme, []byte(strings.Replace(string(text), begin+want, begin+got, 1)), 0o644)
		if err := errors.Join(err, os.WriteFile(readmePicture, []byte(picture(got)), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if timeless(got) != timeless(want) {
		t.Errorf("README.md's session is out of date; the program shows\n%s", got)
	}
	if have, err := os.ReadFile(readmePicture); err != nil || string(have) != picture(want) {
		t.Errorf("%s does not show README.md's session (%v); draw it again by: go test ./cmd/symmrepl -run TestReadmeSession -update", readmePicture, err)
	}
}

// page returns the text of docs/session.md, made from the output of the terminal.
func page(x *terminal) string {
	shown := shown(x)
	var b strings.Builder
	b.WriteString("# A session with mistakes\n\n<!-- Recorded by `go test ./cmd/symmrepl -run TestRecording -update`. -->\n\n" +
		"How a terminal shows mistakes, recorded from `symmrepl -n 4 --device cpu` on a machine without a GPU.\n")
	for i, c := range chapters {
		part := shown
		if i+1 < len(chapters) {
			at := strings.Index(shown, "symm> "+chapters[i+1].entries[0]+"\n")
			if at < 0 {
				x.t.Fatalf("%q is not shown in\n%s", chapters[i+1].entries[0], shown)
			}
			part, shown = shown[:at], shown[at:]
		}
		b.WriteString("\n## " + c.title + "\n\n")
		if c.text != "" {
			b.WriteString(c.text + "\n\n")
		}
		b.WriteString("```\n" + part + "```\n")
	}
	return b.String()
}
