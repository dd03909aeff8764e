package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A wheel around a program that prints what it gets is installed in a fresh environment. Its
// commands become the program, the kernel's command is found from the kernel's folder, and lab
// copies notebooks but keeps those that are there.
func TestInstalled(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	t.Chdir("../../../..")
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$*, $(basename \"$SYMMREPL_ZIGLANG\")\"\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if err := os.WriteFile(filepath.Join(dir, shell), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := readProject("python/pyproject.toml")
	if err != nil {
		t.Fatal(err)
	}
	p.Dependencies = nil // there may be no network
	const tag = "py3-none-any"
	list, err := collect(p, tag, program, program, program, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := list.pack(p.info())
	if err != nil {
		t.Fatal(err)
	}
	wheel := filepath.Join(dir, fmt.Sprintf("%s-%s-%s.whl", p.Name, p.Version, tag))
	if err := os.WriteFile(wheel, text, 0o644); err != nil {
		t.Fatal(err)
	}
	env := filepath.Join(dir, "env")
	if out, err := exec.Command(python, "-m", "venv", env).CombinedOutput(); err != nil {
		t.Skipf("no environment can be made: %v\n%s", err, out)
	}
	python = filepath.Join(env, "bin", "python")
	if out, err := exec.Command(python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel).CombinedOutput(); err != nil {
		t.Fatalf("pip install: %v\n%s", err, out)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	expect := func(status int, want string, command ...string) {
		t.Helper()
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = work
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != status || !strings.Contains(string(out), want) {
			t.Errorf("%q: status %d, %v\n%s\nwant status %d and %q", command, got, err, out, status, want)
		}
	}
	symmrepl := filepath.Join(env, "bin", "symmrepl")
	expect(7, "run -n 4 x.go, \n", symmrepl, "run", "-n", "4", "x.go")
	expect(7, "doctor, \n", python, "-m", "symmrepl", "doctor")
	expect(3, "pip install jupyterlab", symmrepl, "lab")
	expect(2, "usage: symmrepl lab [FOLDER]", symmrepl, "lab", "a", "b")
	expect(2, "usage: symmrepl lab [FOLDER]", symmrepl, "lab", "--port")
	for _, flag := range []string{"--help", "-h"} {
		expect(0, "usage: symmrepl lab [FOLDER]\n\nOpens the lessons", symmrepl, "lab", flag)
	}

	site, err := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages"))
	if err != nil || len(site) != 1 {
		t.Fatalf("%v, %v", site, err)
	}
	for _, module := range []struct{ name, file, text string }{
		{"ziglang", "__init__.py", ""},
		{"jupyterlab", "__init__.py", ""},
		{"jupyterlab", "__main__.py", "import sys; print('lab of', sys.argv[1:]); sys.exit(5)"},
	} {
		if err := os.MkdirAll(filepath.Join(site[0], module.name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(site[0], module.name, module.file), []byte(module.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect(7, "doctor, ziglang\n", symmrepl, "doctor")
	mine := filepath.Join(work, "mine", "01-hello-ranks.ipynb")
	if err := os.Mkdir(filepath.Dir(mine), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("my answers"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(5, "lab of ['mine/contents.ipynb']", symmrepl, "lab", "mine")
	expect(5, "lab of ['symmrepl-notebooks/contents.ipynb']", symmrepl, "lab")
	if got, err := os.ReadFile(mine); err != nil || string(got) != "my answers" {
		t.Errorf("lab has changed a notebook to %q, %v", got, err)
	}
	if copied, err := filepath.Glob(filepath.Join(work, "symmrepl-notebooks", "*.ipynb")); err != nil ||
		len(copied) != len(mustGlob(t, filepath.Join(work, "mine", "*.ipynb"))) || len(copied) < 10 {
		t.Errorf("lab has copied %q, %v", copied, err)
	}

	folder := filepath.Join(env, "share", "jupyter", "kernels", "symmrepl")
	text, err = os.ReadFile(filepath.Join(folder, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct{ Argv []string }
	if err := json.Unmarshal(text, &spec); err != nil || len(spec.Argv) == 0 {
		t.Fatalf("%s: %v", text, err)
	}
	var argv []string
	for _, a := range spec.Argv { // as Jupyter does
		argv = append(argv, strings.NewReplacer("{resource_dir}", folder, "{connection_file}", "file").Replace(a))
	}
	expect(7, "kernel run file, ziglang\n", argv...)
}

func mustGlob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
