package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What lies at the path of an output stays, unless it is the output that is to be replaced.
func TestOutputsSpare(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	cells := h.script("cells.go", "1\n")
	notes := h.script("notes.txt", "mine")
	link := filepath.Join(h.dir, "link")
	if err := os.Symlink(notes, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"mcp", "-n", "1", "--device", device(), "--socket", notes}, "exists and is no socket"},
		{[]string{"dap", "-n", "1", "--device", device(), "--socket", link}, "exists and is no socket"},
		{[]string{"export", cells, "-o", cells}, "would overwrite the cells"},
		{[]string{"trace", cells, "--out", cells, "-n", "1", "--device", device()}, "would overwrite the script"},
	} {
		if r := h.run("", c.args...); r.status == 0 || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: %+v, want %s", c.args, r, c.want)
		}
	}
	for file, want := range map[string]string{cells: "1\n", notes: "mine", link: "mine"} {
		if text, err := os.ReadFile(file); string(text) != want {
			t.Errorf("%s has %q (%v)", filepath.Base(file), text, err)
		}
	}
}

// A program whose standard output cannot take what it prints does not succeed.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	cells := h.script("cells.go", "fmt.Println(1)\n")
	session := []string{"-n", "1", "--device", device()}
	for _, args := range [][]string{
		append([]string{"-e", "1"}, session...),
		append([]string{"run", cells}, session...),
		append([]string{"trace", cells}, session...),
		{"export", cells, "-o", filepath.Join(h.dir, "program.go")},
		{"doctor"}, {"--help"}, {"--version"},
	} {
		cmd := h.command(args...)
		var errs strings.Builder
		cmd.Stdout, cmd.Stderr = full, &errs
		cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(errs.String(), "standard output is not complete: write /dev/stdout: no space left on device") {
			t.Errorf("%s: status %d, %s", args, status, errs.String())
		}
	}
}

// A text without an end is not read to its end.
func TestEndlessInput(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	big := h.script("big.go", strings.Repeat("// "+strings.Repeat("c", 96)+"\n", 170_000))
	session := []string{"-n", "1", "--device", device()}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append([]string{"run", "/dev/zero"}, session...), "/dev/zero has more than 16 MiB, which is the limit for a script"},
		{append([]string{"run", big}, session...), "big.go has more than 16 MiB, which is the limit for a script"},
		{append([]string{"trace", "/dev/zero"}, session...), "which is the limit for a script"},
		{[]string{"export", "/dev/zero", "-o", filepath.Join(h.dir, "p.go")}, "which is the limit for a script"},
		{append([]string{"-e", ":load " + big}, session...), "which is the limit for a file of cells"},
	} {
		if r := h.run("", c.args...); r.status == 0 || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: %+v, want %s", c.args, r, c.want)
		}
	}
	if r := h.run(strings.Repeat("// "+strings.Repeat("c", 96)+"\n", 170_000), append([]string{"run", "-"}, session...)...); !strings.Contains(r.err, "standard input has more than 16 MiB") {
		t.Errorf("%+v", r)
	}
}
