package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

var record = flag.Bool("record", false, "record what the tutorials print")

// size is the number of ranks in the tests of the tutorials.
const size = 4

// tutorials lists the unnumbered scripts, without ".go". The numbered ones are tested as lessons.
func tutorials(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../tutorials/[a-z]*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("tutorials: %v, %v", files, err)
	}
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".go")
	}
	return files
}

// devices matches the device of a tensor, the only text that differs between devices.
var devices = regexp.MustCompile(`\bon (cpu|cuda:\d+)`)

// ranksOutput splits the output of a session of size ranks by rank.
func ranksOutput(t *testing.T, text string) [size]string {
	t.Helper()
	var outs [size]string
	for line := range strings.Lines(devices.ReplaceAllString(text, "on a device")) {
		list, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
		ranks, err := session.ParseRanks(list, size)
		if !ok || err != nil {
			t.Fatalf("a line without ranks: %q", line)
		}
		for _, r := range ranks {
			outs[r] += rest
		}
	}
	return outs
}

// said returns the standard error that is expected of a script loaded from file. Only redefine
// prints there: it leaves a caller of an earlier function behind.
func said(script, file string) string {
	if filepath.Base(script) != "redefine" {
		return ""
	}
	return fmt.Sprintf("[0-3] note: twice (%s) still calls the earlier step(x int) int; define it again to change that\n", file)
}

// The tutorials print the recorded outputs, also after they have been saved.
func TestTutorials(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the race detector would report the word that goroutines of a cell share to note the current statement")
	}
	t.Parallel()
	h := newHome(t, size)
	for _, script := range tutorials(t) {
		t.Run(filepath.Base(script), func(t *testing.T) {
			saved := filepath.Join(h.dir, "saved.go")
			entries := fmt.Sprintf(":load %s.go\n:save! %s\n", script, saved)
			r := h.run(entries, "-n", fmt.Sprint(size), "--device", device())
			out, report, found := strings.Cut(r.out, saved+": ")
			if r.status != 0 || r.err != said(script, script+".go") || !found || strings.Contains(report, "failed") {
				t.Fatalf("%+v", r)
			}
			if *record {
				if err := os.WriteFile(script+".out", []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(script + ".out")
			if err != nil {
				t.Fatal(err)
			}
			if ranksOutput(t, out) != ranksOutput(t, string(want)) {
				t.Errorf("printed\n%s\nwant\n%s", out, want)
			}
			again := h.run("", "run", "-n", fmt.Sprint(size), "--device", device(), saved)
			if again.out != out || again.err != said(script, saved) || again.status != 0 {
				t.Errorf("the saved file prints %+v, want\n%s", again, out)
			}
		})
	}
}

// An exported tutorial is a program. Each of its ranks prints the output of the same rank in the
// session.
func TestExportedTutorials(t *testing.T) {
	if testing.Short() {
		t.Skip("short: builds programs")
	}
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command to build programs")
	}
	h := newHome(t, size)
	module := newModule(t, h)
	scripts := someOf(tutorials(t))
	if hello := "../../tutorials/hello"; !slices.Contains(scripts, hello) {
		scripts = append(scripts, hello) // which torchrun starts
	}
	for _, script := range scripts {
		name := filepath.Base(script)
		os.Mkdir(filepath.Join(module, name), 0o755)
		file := filepath.Join(module, name, "main.go")
		r := h.run(fmt.Sprintf(":load %s.go\n:export %s\n", script, file), "-n", fmt.Sprint(size), "--device", device())
		if r.status != 0 || r.err != said(script, script+".go") {
			t.Fatalf("%s: %+v", name, r)
		}
	}
	build := exec.Command("go", "build", "-ldflags=-w", "-o", "bin/", "./...")
	build.Dir, build.Env = module, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, script := range scripts {
		t.Run(filepath.Base(script), func(t *testing.T) {
			want, err := os.ReadFile(script + ".out")
			if err != nil {
				t.Fatal(err)
			}
			got := runRanks(t, h, filepath.Join(module, "bin", filepath.Base(script)))
			for r, text := range ranksOutput(t, string(want)) {
				if got[r] != text {
					t.Errorf("rank %d printed\n%s\nwant\n%s", r, got[r], text)
				}
			}
		})
	}
	t.Run("torchrun", func(t *testing.T) {
		if _, err := exec.LookPath("torchrun"); err != nil {
			t.Skip("torchrun is not installed; the programs ran with its variables")
		}
		cmd := exec.Command("torchrun", "--nproc_per_node", fmt.Sprint(size), "--no_python", filepath.Join(module, "bin", "hello"))
		cmd.Env = append(os.Environ(), "SYMMREPL_DEVICE="+device())
		text, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(text), "sum over ranks: [0 4 8 12]\n") != size {
			t.Errorf("%v\n%s", err, text)
		}
	})
}

// newModule makes a module whose go.mod replaces symmrepl's module by this source tree.
func newModule(t *testing.T, h home) string {
	t.Helper()
	dir := filepath.Join(h.dir, "module")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(string(mod), "\n")
	requirements, _, _ = strings.Cut(requirements, "\ntool ")
	const path = "github.com/symmrepl/symmrepl"
	text := fmt.Sprintf("module session\n%s\nrequire %s v0.0.0\n\nreplace %s => %q\n", requirements, path, path, root)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// runRanks runs a program as a launcher does and returns the output of each rank.
func runRanks(t *testing.T, h home, program string) [size]string {
	t.Helper()
	var cmds []*exec.Cmd
	var outs, errs [size]bytes.Buffer
	for r := range size {
		cmd := exec.Command(program)
		cmd.Env = append(h.command().Env, launched(r, size)...)
		cmd.Env = append(cmd.Env, "SYMMREPL_DEVICE="+device())
		cmd.Stdout, cmd.Stderr = &outs[r], &errs[r]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer time.AfterFunc(patience(), func() { cmd.Process.Kill() }).Stop()
		cmds = append(cmds, cmd)
	}
	var texts [size]string
	for r, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("rank %d: %v\n%s", r, err, errs[r].String())
		}
		texts[r] = devices.ReplaceAllString(outs[r].String(), "on a device")
	}
	return texts
}
