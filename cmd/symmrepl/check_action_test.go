package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAction runs the step of action.yml that checks, as a runner of workflows does: bash with -e, the
// inputs in the environment, and a file for outputs. Quotes and signs of the shell in inputs stay text.
func TestAction(t *testing.T) {
	t.Parallel()
	python := os.Getenv("SYMMREPL_JUPYTER")
	if python == "" {
		t.Skip("SYMMREPL_JUPYTER names no Python that reads YAML")
	}
	text, err := exec.Command(python, "-c", `
import json, yaml
action = yaml.safe_load(open("../../action.yml"))
step = next(s for s in action["runs"]["steps"] if s.get("id") == "check")
assert action["runs"]["using"] == "composite" and step["shell"] == "bash"
print(json.dumps({"Run": step["run"], "Env": step["env"], "Inputs": {k: v.get("default", "") for k, v in action["inputs"].items()}}))`).Output()
	var step struct {
		Run         string
		Env, Inputs map[string]string
	}
	if err == nil {
		err = json.Unmarshal(text, &step)
	}
	if err != nil {
		t.Fatal(err, string(text))
	}
	for _, c := range []struct {
		paths, arguments string
		status           int
		want             string
	}{
		{"right.cu", "-n 2 -I include --only after", 0, "ok  \tright.cu\t1 result"},
		{"wrong.cu", "-n 2 --only value", 1, "--- FAIL: value at wrong.cu:1 on 2 ranks"},
		{"$(touch${IFS}made)", "", 2, "no such file or directory"},
	} {
		h := checks(t)
		program := h.command().Path
		bin := filepath.Join(h.dir, "bin")
		if err := os.Mkdir(bin, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(bin, "symmrepl")); err != nil {
			t.Fatal(err)
		}
		h.cwd = t.TempDir()
		if err := os.CopyFS(h.cwd, os.DirFS("testdata/check")); err != nil {
			t.Fatal(err)
		}
		cmd := h.command()
		cmd.Path, cmd.Args = "/bin/bash", []string{"bash", "-eo", "pipefail", "-c", step.Run}
		output := filepath.Join(h.dir, "output")
		cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), "GITHUB_OUTPUT="+output)
		inputs := map[string]string{"paths": c.paths, "arguments": c.arguments}
		for name, value := range step.Env {
			input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
			cmd.Env = append(cmd.Env, name+"="+inputs[input])
		}
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.Contains(string(out), c.want) {
			t.Errorf("%s %s: status %d, want %d\n%s", c.paths, c.arguments, got, c.status, out)
		}
		if _, err := os.Stat(filepath.Join(h.cwd, "made")); err == nil {
			t.Error("an input was run as a command")
		}
		if text, err := os.ReadFile(output); err != nil || string(text) != "junit=symmrepl.xml\nsarif=symmrepl.sarif\n" {
			t.Errorf("outputs %q, %v", text, err)
		}
		for _, name := range []string{"symmrepl.xml", "symmrepl.sarif"} {
			if _, err := os.Stat(filepath.Join(h.cwd, name)); (err == nil) != (c.status < 2) {
				t.Errorf("%s: %s: %v", c.paths, name, err)
			}
		}
	}
}
