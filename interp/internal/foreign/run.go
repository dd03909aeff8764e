package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Verdicts on a program.
type verdict int

const (
	same      verdict = iota // it behaves as with the toolchain
	refused                  // it is refused before it runs, with a reason
	different                // it behaves differently
	crashed                  // it crashes its rank, or does not end
	skipped                  // the toolchain cannot run it on this machine
)

func (v verdict) String() string {
	return [...]string{"same", "refused", "different", "crashed", "skipped"}[v]
}

// result is the verdict on a program.
type result struct {
	program
	verdict
	why string
}

// outcome is the end of a process, and its output.
type outcome struct {
	Output         string // both streams, in the order of writing
	Stdout, Stderr string
	Failed         bool
	late           bool
}

// same reports whether two programs printed the same. The order between a rank's two streams is not
// kept, so they may be equal separately.
func (o outcome) same(p outcome) bool {
	return equal(o.Output, p.Output) || equal(o.Stdout, p.Stdout) && equal(o.Stderr, p.Stderr)
}

// runner runs programs.
type runner struct {
	program string        // the path of symmrepl
	kept    string        // the folder of the toolchain's outputs
	limit   time.Duration // time limit for one program
}

// judge runs a program and compares it.
func (r *runner) judge(p program) result {
	if p.skip != "" {
		return result{p, skipped, p.skip}
	}
	if p.src != "" {
		dir, err := vendored(&p)
		defer os.RemoveAll(dir)
		if err != nil {
			return result{p, refused, err.Error()}
		}
	}
	args := slices.Concat([]string{"run", "-n", "1", "--device", "cpu", p.path}, p.files, []string{"--"}, p.args)
	cmd := exec.Command(r.program, args...)
	cmd.Env = append(os.Environ(), "GOFLAGS="+p.flags)
	got := r.run(cmd)
	if !got.Failed && equal(got.Output, p.want) {
		return result{p, same, ""}
	}
	want := r.toolchain(p)
	if got.Failed == want.Failed && got.same(want) {
		return result{p, same, ""}
	}
	if got.Failed == want.Failed && masked(got.Output) == masked(want.Output) && r.varies(p, want) {
		return result{p, same, ""}
	}
	if want.Failed && !want.late && got.Failed && !died.MatchString(got.Output) && samePanic(got.Output, want.Output) {
		return result{p, same, ""}
	}
	switch {
	case got.late:
		return result{p, crashed, "it does not end within " + r.limit.String()}
	case died.MatchString(got.Output):
		return result{p, crashed, died.FindString(got.Output)}
	case got.Failed && position.MatchString(got.Output) && !failure.MatchString(got.Output):
		return result{p, refused, lastError(p, got.Output)}
	case got.Failed:
		return result{p, different, lastError(p, got.Output)}
	}
	return result{p, different, firstDifference(got.Output, want.Output)}
}

// run runs a command in a new folder.
func (r *runner) run(cmd *exec.Cmd) outcome {
	dir, err := os.MkdirTemp("", "foreign")
	if err != nil {
		return outcome{Output: err.Error(), Failed: true}
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), r.limit)
	defer cancel()
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	c.Dir, c.Env, c.WaitDelay = dir, cmd.Env, time.Second
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	var both, stdout, stderr bytes.Buffer
	var mu sync.Mutex
	c.Stdout, c.Stderr = &stream{&mu, &both, &stdout}, &stream{&mu, &both, &stderr}
	err = c.Run()
	return outcome{
		Output: both.String(), Stdout: stdout.String(), Stderr: stderr.String(), Failed: err != nil,
		late: errors.Is(ctx.Err(), context.DeadlineExceeded),
	}
}

// stream keeps the output of one stream, and of both together.
type stream struct {
	mu        *sync.Mutex // shared by both streams
	both, own *bytes.Buffer
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.both.Write(b)
	return s.own.Write(b)
}

// toolchain returns the outcome of a program built by the Go toolchain.
func (r *runner) toolchain(p program) outcome {
	text, err := os.ReadFile(p.path)
	if err != nil {
		return outcome{Output: err.Error(), Failed: true}
	}
	sum := sha256.Sum256(append(text, runtime.Version()+" 4"...))
	kept := filepath.Join(r.kept, hex.EncodeToString(sum[:8]))
	var o outcome
	if b, err := os.ReadFile(kept); err == nil && json.Unmarshal(b, &o) == nil {
		return o
	}
	o = r.goRun(p)
	if b, err := json.Marshal(o); err == nil && !o.late && os.MkdirAll(r.kept, 0o755) == nil {
		os.WriteFile(kept, b, 0o644) // without it the next run is only slower
	}
	return o
}

// goRun builds a program with the Go toolchain and runs it. It builds in the program's folder,
// because the program may be part of a module.
func (r *runner) goRun(p program) outcome {
	dir, err := os.MkdirTemp("", "foreign")
	if err != nil {
		return outcome{Output: err.Error(), Failed: true}
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "program")
	build := exec.Command("go", slices.Concat([]string{"build", "-C", filepath.Dir(p.path), "-o", binary, p.path}, p.files)...)
	build.Env = append(os.Environ(), "GOFLAGS="+p.flags, "GOWORK=off")
	if o := r.run(build); o.Failed {
		return o
	}
	return r.run(exec.Command(binary, p.args...))
}

// vendored makes a program a module in a new folder, with copies of the packages that it imports
// below vendor. It returns the folder.
func vendored(p *program) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "foreign"); err != nil {
		return "", err
	}
	text, err := os.ReadFile(p.path)
	if err != nil {
		return dir, err
	}
	p.path, p.flags = filepath.Join(dir, filepath.Base(p.path)), "-mod=vendor"
	// From go 1.14 on, the go command asks for a list of the modules in vendor.
	return dir, errors.Join(os.WriteFile(p.path, text, 0o644),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module foreign\n\ngo 1.13\n"), 0o644),
		os.CopyFS(filepath.Join(dir, "vendor"), os.DirFS(p.src)))
}

// varies reports whether the toolchain's program prints something else, such as another address,
// when it runs again.
func (r *runner) varies(p program, before outcome) bool {
	again := r.goRun(p)
	return again.Output != before.Output && masked(again.Output) == masked(before.Output)
}

// masked returns a text with its numbers masked.
func masked(text string) string { return numbers.ReplaceAllString(strings.TrimSpace(text), "#") }

// equal compares outputs, ignoring white space at their ends and the times of log messages.
func equal(a, b string) bool {
	return times.ReplaceAllString(strings.TrimSpace(a), "") == times.ReplaceAllString(strings.TrimSpace(b), "")
}

var (
	times   = regexp.MustCompile(`(?m)^[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} `)
	numbers = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)
	// position matches the beginning of an error with a place in the program.
	position = regexp.MustCompile(`(?m)^\S*\.go:[0-9]+:[0-9]+: `)
	// died matches the report of a rank that ended.
	died = regexp.MustCompile(`(?m)^.*\brank \d+ (died|was killed|ended|exited).*$|the worker (died|crashed).*`)
	// failure matches an error of a program that ran.
	failure = regexp.MustCompile(`(?m): panic: |: (exit status|os\.Exit)`)
	// panicked matches the report of a panic or exit.
	panicked = regexp.MustCompile(`(?m)panic: (.*)$`)
)

// samePanic reports whether both programs end by the same panic and printed the same before it.
func samePanic(got, want string) bool {
	g, w := panicked.FindStringSubmatchIndex(got), panicked.FindStringSubmatchIndex(want)
	if g == nil || w == nil {
		return false
	}
	before := got[:strings.LastIndexByte(got[:g[0]], '\n')+1]
	return got[g[2]:g[3]] == want[w[2]:w[3]] && equal(before, want[:w[0]])
}

// lastError returns the error message of a failed program.
func lastError(p program, text string) string {
	base := filepath.Base(p.path)
	for line := range strings.Lines(text) {
		if _, msg, ok := strings.Cut(line, base+":"); ok {
			return strings.TrimSpace(msg)
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// firstDifference returns the first line that differs.
func firstDifference(got, want string) string {
	g, w := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(strings.TrimSpace(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return "it prints " + short(a) + ", the toolchain's prints " + short(b)
		}
	}
	return "its exit status differs"
}

func short(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return "“" + s + "”"
}
