package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestPrograms runs command lines on programs, each archive of testdata/programs in a folder of its
// own. The text before the first file of an archive describes its subject. A file whose name begins
// with "$ symmrepl" runs that command line and contains the expected standard output. The files
// after it may describe the run further:
//
//	stdin      the standard input
//	stderr     the expected standard error
//	stderr has lines that standard error must contain in this order; it may have others
//	status     the expected exit status, 0 by default
//
// All other files are written to the folder. The expected texts call the folder $WORK. A run uses
// the device of the tests unless its command line names one.
func TestPrograms(t *testing.T) {
	archives, err := filepath.Glob("testdata/programs/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("%v, %v", archives, err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, 2)
			h.cwd = t.TempDir()
			for _, run := range runsOf(t, archive, h.cwd) {
				run.check(t, h)
			}
			h.expectNothingLeft()
		})
	}
}

// programRun is one run of an archive.
type programRun struct {
	line  string
	stdin string
	want  result
	has   []string // lines that standard error must contain; used instead of want.err
}

// runsOf writes the files of an archive to a folder and returns its runs.
func runsOf(t *testing.T, archive *txtar.Archive, folder string) (runs []*programRun) {
	last := &programRun{}
	for _, f := range archive.Files {
		text := string(f.Data)
		switch line, isRun := strings.CutPrefix(f.Name, "$ symmrepl"); {
		case isRun:
			last = &programRun{line: line, want: result{out: text}}
			runs = append(runs, last)
		case f.Name == "stdin":
			last.stdin = text
		case f.Name == "stderr":
			last.want.err = text
		case f.Name == "stderr has":
			last.has = slices.Collect(strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n"))
		case f.Name == "status":
			status, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				t.Fatal(err)
			}
			last.want.status = status
		default:
			name := filepath.Join(folder, f.Name)
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return runs
}

func (r *programRun) check(t *testing.T, h home) {
	t.Helper()
	args := strings.Fields(r.line)
	if !slices.Contains(args, "--device") {
		first := min(len(args), slices.Index(args, "run")+1) // flags may stand after the subcommand
		args = slices.Insert(args, first, "--device", device())
	}
	got := h.run(r.stdin, args...)
	got.out, got.err = strings.ReplaceAll(got.out, h.cwd, "$WORK"), strings.ReplaceAll(got.err, h.cwd, "$WORK")
	if r.has != nil {
		inOrder(t, "standard error of symmrepl"+r.line, got.err, r.has...)
		got.err = ""
	}
	if got != r.want {
		t.Errorf("symmrepl%s ends with status %d\n%s%s\nwant status %d\n%s%s", r.line, got.status, got.out, got.err, r.want.status,
			r.want.out, r.want.err)
	}
}
