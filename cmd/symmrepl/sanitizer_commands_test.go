package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
)

// racyCells define the function launch. Its kernel has one race.
const racyCells = "racy := symm.Compile(`__global__ void racy(int* x) { x[threadIdx.x / 2] = threadIdx.x; }`); x := symm.Local(symm.I32, 64)\n" +
	"func launch() { racy.Launch(symm.Grid(1), symm.Block(64), x) }\n"

// watchedHome returns a home for programs that use the sanitizer. It skips the test if they cannot.
func watchedHome(t *testing.T) home {
	t.Helper()
	if device() != "cpu" {
		t.Skip("the sanitizer needs the cpu device")
	}
	h := newHome(t, 2)
	if r := h.run("", "-n", "1", "--device", "cpu", "--sanitize", "-e", "1"); strings.Contains(r.err, "kernels that are watched need") {
		t.Skip(r.err) // the compiler is too old
	}
	return h
}

// heads returns the first lines of reports and all lines outside of reports.
func heads(printed string) (lines []string) {
	for line := range strings.Lines(printed) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(reportPrefix.ReplaceAllString(line, ""), "  ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// If a run finds only known findings, it says so. If it finds nothing, it says that. The sanitizer
// has one state for all ranks, whether a command or a cell has changed it.
func TestSanitizeCommands(t *testing.T) {
	t.Parallel()
	h := watchedHome(t)
	file := filepath.Join(h.dir, "f.go")
	if err := os.WriteFile(file, []byte("// %%\nsymm.Compile(`__global__ void w(int* x) { x[threadIdx.x / 2] = 1 + threadIdx.x; }`).Launch(symm.Grid(1), symm.Block(64), x)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const told, again = "[0,1] race in a block: in i32[64]", "[0,1] again: race in a block, as in "
	var entries, out, errs []string
	for _, e := range []struct{ entry, out, err string }{
		{":sanitize launch()", "", told},
		{":sanitize launch()", "", again + "cell[3], at cell[1]:1:51"},
		{":sanitize 3 launch()", "", again + "cell[3], at cell[1]:1:51"},
		{":sanitize 1", "[0,1] 1", "nothing was found"},
		{":sanitize 3 symm.Compile(`__global__ void w(int* x) { x[threadIdx.x / 2] = threadIdx.x; }`).Launch(symm.Grid(1), symm.Block(64), x)", "", told},
		{":sanitize", "the sanitizer is off; 2 findings", ""},
		{"symm.Sanitize(true, 0)", "", ""},
		{":sanitize", "the sanitizer is on; 2 findings", ""},
		{"launch()", "", again + "cell[3], at cell[1]:1:51"},
		{"symm.Sanitize(false, 0)", "", ""},
		{":sanitize", "the sanitizer is off; 2 findings", ""},
		{"launch()", "", ""},
		{":load " + file, "", ""},
		{":sanitize on", "", ""},
		{":load " + file, "", told},
		{":load " + file, "", again + file + ", at " + file + ":2:48"},
		{"$ sed -i s/1.+/2+/ " + file, "", ""},
		{":load " + file, "", told},
		{"symm := 3", "", ""}, // cells may use the name symm themselves
		{"launch()", "", again + "cell[3], at cell[1]:1:51"},
		{":sanitize off", "", ""},
		{"launch()", "", ""},
		{":sanitize list", "", strings.Join([]string{told, told, told, told}, "\n")},
		{":sanitize", "the sanitizer is off; 4 findings", ""},
	} {
		entries = append(entries, e.entry)
		if e.out != "" {
			out = append(out, e.out)
		}
		if e.err != "" {
			errs = append(errs, strings.Split(e.err, "\n")...)
		}
	}
	r := h.run(racyCells+strings.Join(entries, "\n")+"\n", "-n", "2", "--device", "cpu")
	if r.status != 1 || !reflect.DeepEqual(heads(r.out), out) || !reflect.DeepEqual(heads(r.err), errs) {
		t.Errorf("status %d, printed\n%s\nwant\n%s\nand\n%s\nwant\n%s", r.status, r.out, strings.Join(out, "\n"), r.err,
			strings.Join(errs, "\n"))
	}
}

// The sanitizer also watches a rank that was replaced, and the earlier findings remain.
func TestSanitizeReplacedRank(t *testing.T) {
	t.Parallel()
	h := watchedHome(t)
	r := h.run(racyCells+`:sanitize on
launch()
import "os"
if symm.Rank() == 1 { os.Exit(3) }
`+"y := symm.Local(symm.I32, 64); symm.Compile(`__global__ void w(int* x) { x[threadIdx.x / 2] = threadIdx.x; }`).Launch(symm.Grid(1), symm.Block(64), y)\n"+`:sanitize
:restart
:sanitize list --json
`, "-n", "2", "--device", "cpu")
	reports := strings.Count(r.err, "[0,1] race in a block: in i32[64]\n")
	state, list, _ := strings.Cut(r.out, "\n")
	var found struct{ Findings []session.Finding }
	err := json.Unmarshal([]byte(list), &found)
	if reports != 2 || state != "the sanitizer is on; 2 findings" || err != nil || len(found.Findings) != 2 ||
		found.Findings[1].Name != "cell[6]" {
		t.Errorf("%d reports, %v, printed\n%s%s", reports, err, r.out, r.err)
	}
}

// Interrupting a cell does not change whether the sanitizer is on.
func TestSanitizeInterrupted(t *testing.T) {
	t.Parallel()
	x := watchedHome(t).terminal("-n", "2", "--device", "cpu")
	x.enter(`:sanitize fmt.Println("begun"); time.Sleep(time.Hour)`)
	x.expect("[0,1] begun\n")
	x.send(ctrlC)
	x.expect("interrupted")
	x.enter(":sanitize")
	x.expect("the sanitizer is off; nothing was found\n")
	x.send(ctrlD)
	x.exit(0)
}

// With -e, --schedules runs one cell in several orders and reports them together.
func TestSanitizeOrdersOfOneCell(t *testing.T) {
	t.Parallel()
	h := watchedHome(t)
	cell := strings.ReplaceAll(racyCells, "func launch() {", "{")
	r := h.run("", "-n", "2", "--device", "cpu", "--sanitize", "--schedules", "3", "--json", "-e", cell)
	var found struct{ Findings []session.Finding }
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		t.Fatal(err, r)
	}
	if want := []string{"[0,1] race in a block: in i32[64]", "the sanitizer has 1 finding in 3 orders"}; r.status != 1 ||
		len(found.Findings) != 1 || !reflect.DeepEqual(heads(r.err), want) {
		t.Errorf("status %d, %d findings, printed\n%s", r.status, len(found.Findings), r.err)
	}
}

// All front ends of a session agree on the state and the findings of its sanitizer. Each prints a
// finding in full the first time it meets it.
func TestSanitizeFrontEnds(t *testing.T) {
	t.Parallel()
	watchedHome(t)
	s := launchHere(t, 2)
	ctx, cancel := context.WithTimeout(t.Context(), patience())
	defer cancel()
	attached, err := controller.Attach(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer attached.Close()
	front := func(s session.Session) func(entry string) string {
		c := &console.Console{Session: s, Size: 2, Commands: command.All(command.Programs{})}
		return func(entry string) string {
			var out strings.Builder
			c.Run(ctx, console.Request{Source: entry, Printer: render.New(&out, &out, 2, false)})
			return strings.Join(heads(out.String()), "\n")
		}
	}
	one, other := front(s), front(attached)
	for cell := range strings.Lines(racyCells) {
		one(cell)
	}
	const told = "[0,1] race in a block: in i32[64]"
	for i, step := range []struct {
		front       func(string) string
		entry, want string
	}{
		{one, ":sanitize on", ""},
		{other, ":sanitize", "the sanitizer is on; nothing was found"},
		{one, "launch()", told},
		{other, ":sanitize", "the sanitizer is on; 1 finding"},
		{other, ":sanitize list", told},
		{other, "launch()", told},
		{other, "launch()", "[0,1] again: race in a block, as in cell[4], at cell[1]:1:51"},
		{other, ":sanitize off", ""},
		{one, ":sanitize", "the sanitizer is off; 1 finding"},
		{one, "launch()", ""},
		{one, ":sanitize launch()", "[0,1] again: race in a block, as in cell[3], at cell[1]:1:51"},
		{other, ":sanitize", "the sanitizer is off; 1 finding"},
	} {
		if got := step.front(step.entry); got != step.want {
			t.Errorf("step %d, %s: %q, want %q", i, step.entry, got, step.want)
		}
	}
}
