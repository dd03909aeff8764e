package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// Verdicts on a program.
type verdict int

const (
	same      verdict = iota // it does what the toolchain's does
	refused                  // it is refused before it runs, with a reason
	different                // it does something else
	crashed                  // it ends its rank, or does not end
	skipped                  // the toolchain does not run it on this machine
)

func (v verdict) String() string {
	return [...]string{"same", "refused", "different", "crashed", "skipped"}[v]
}

// result is what came of a program.
type result struct {
	program
	verdict
	why string
}

// outcome is how a process ended, and what it printed.
type outcome struct {
	output string
	failed bool
	late   bool
}

// runner runs programs.
type runner struct {
	program string        // symmrepl
	kept    string        // the folder of what the toolchain printed
	limit   time.Duration // of one program
}

// judge runs a program and compares it.
func (r *runner) judge(p program) result {
	if p.skip != "" {
		return result{p, skipped, p.skip}
	}
	got := r.run(exec.Command(r.program, append([]string{"run", "-n", "1", "--device", "cpu", p.path}, p.args...)...))
	if !got.failed && equal(got.output, p.want) {
		return result{p, same, ""}
	}
	want := r.toolchain(p)
	if got.failed == want.failed && equal(got.output, want.output) {
		return result{p, same, ""}
	}
	if want.failed && !want.late && got.failed && !died.MatchString(got.output) && samePanic(got.output, want.output) {
		return result{p, same, ""}
	}
	switch {
	case got.late:
		return result{p, crashed, "it does not end"}
	case died.MatchString(got.output):
		return result{p, crashed, died.FindString(got.output)}
	case got.failed && !failure.MatchString(got.output):
		return result{p, refused, lastError(p, got.output)}
	case got.failed:
		return result{p, different, lastError(p, got.output)}
	}
	return result{p, different, firstDifference(got.output, want.output)}
}

// run runs a command in a folder of its own.
func (r *runner) run(cmd *exec.Cmd) outcome {
	dir, err := os.MkdirTemp("", "foreign")
	if err != nil {
		return outcome{output: err.Error(), failed: true}
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), r.limit)
	defer cancel()
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	c.Dir, c.Env, c.WaitDelay = dir, cmd.Env, time.Second
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err = c.Run()
	return outcome{output: out.String(), failed: err != nil, late: errors.Is(ctx.Err(), context.DeadlineExceeded)}
}

// toolchain returns what the Go toolchain makes of a program.
func (r *runner) toolchain(p program) outcome {
	text, err := os.ReadFile(p.path)
	if err != nil {
		return outcome{output: err.Error(), failed: true}
	}
	sum := sha256.Sum256(append(text, runtime.Version()...))
	kept := filepath.Join(r.kept, hex.EncodeToString(sum[:8]))
	if b, err := os.ReadFile(kept); err == nil {
		return outcome{output: string(b[1:]), failed: b[0] == '1'}
	}
	cmd := exec.Command("go", append([]string{"run", p.path}, p.args...)...)
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	o := r.run(cmd)
	status := "0"
	if o.failed {
		status = "1"
	}
	if !o.late && os.MkdirAll(r.kept, 0o755) == nil {
		os.WriteFile(kept, []byte(status+o.output), 0o644) // without it the next run is only slower
	}
	return o
}

// equal compares outputs but for white space at their ends.
func equal(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

var (
	// died matches the report of a rank that ended.
	died = regexp.MustCompile(`(?m)^.*\brank \d+ (died|was killed|ended|exited).*$|the worker died.*`)
	// failure matches an error of a program that ran.
	failure = regexp.MustCompile(`(?m): panic: |: (exit status|os\.Exit)`)
	// panicked matches what a panic or exit is reported by.
	panicked = regexp.MustCompile(`(?m)panic: (.*)$`)
)

// samePanic reports whether both programs end by the same panic and printed the same before.
func samePanic(got, want string) bool {
	g, w := panicked.FindStringSubmatchIndex(got), panicked.FindStringSubmatchIndex(want)
	if g == nil || w == nil {
		return false
	}
	before := got[:strings.LastIndexByte(got[:g[0]], '\n')+1]
	return got[g[2]:g[3]] == want[w[2]:w[3]] && equal(before, want[:w[0]])
}

// lastError is the sentence by which a program failed.
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

// firstDifference shows the first line that differs.
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
