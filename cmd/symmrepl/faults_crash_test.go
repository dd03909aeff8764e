package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// When Go's runtime ends a worker, the user reads one line with the cause, the remedy and the file
// of the report. If a cell's own output begins like such a report, the session shows it.
func TestCrashesOfTheRuntime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ cell, says, reported string }{
		"concurrent map writes": {"m := map[int]int{}\nfor range 4 { go func() { for i := 0; ; i++ { m[i&7] = i } }() }; select {}",
			"cell[4]:1:47: the worker crashed (fatal error: concurrent map writes): goroutines that share a map need a sync.Mutex",
			"concurrent map writes"},
		"threads": {"import \"runtime/debug\"\ndebug.SetMaxThreads(1); select {}",
			"cell[4]:1:1: the worker crashed (runtime: program exceeds 1-thread limit)", "thread exhaustion"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			if testing.Short() && name == "concurrent map writes" {
				t.Skip("short: the race detector would report the concurrent writes too")
			}
			h := newHome(t, 1)
			r := h.run("import \"os\"\nos.Stderr.WriteString(\"panic: it is not\\n\")\n"+test.cell+"\n1 + 1\n",
				"-n", "1", "--device", device())
			if !strings.Contains(r.err, test.says) || !strings.Contains(r.err, "panic: it is not\n") ||
				strings.Contains(r.err, "goroutine 1") || strings.Count(r.err, "\n") > 8 {
				t.Errorf("shown: %s", r.err)
			}
			if !strings.HasSuffix(r.out, "2\n") {
				t.Errorf("the next cell: %s", r.out)
			}
			_, rest, _ := strings.Cut(r.err, "Go's report of it is in ")
			file, _, _ := strings.Cut(rest, "\n")
			report, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(report), test.reported) || !strings.Contains(string(report), "\ngoroutine ") ||
				filepath.Base(file) != "crash-rank0.txt" {
				t.Errorf("the report in %q: %v %.200s", file, err, report)
			}
		})
	}
}
