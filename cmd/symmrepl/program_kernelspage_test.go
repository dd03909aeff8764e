package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// cellsAndOutput matches a program of docs/kernels.md with what it prints.
var cellsAndOutput = regexp.MustCompile("(?s)### ([^\n]+)\n\n```go\n(.*?)```\n\n```text\n(.*?)```\n")

// TestKernelsPage runs the programs of docs/kernels.md, which prints what they print with 4 ranks.
func TestKernelsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := cellsAndOutput.FindAllStringSubmatch(string(page), -1)
	if len(programs) < 6 {
		t.Fatalf("only %d programs were found", len(programs))
	}
	for _, p := range programs {
		t.Run(p[1], func(t *testing.T) {
			t.Parallel()
			h := newHome(t, 4)
			h.cwd = t.TempDir()
			if err := os.WriteFile(filepath.Join(h.cwd, "cells.go"), []byte(p[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			run := &programRun{line: "run cells.go", want: result{out: p[3]}}
			run.check(t, h)
			h.expectNothingLeft()
		})
	}
}
