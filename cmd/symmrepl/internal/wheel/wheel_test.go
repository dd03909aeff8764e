package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program that needs more than the C library, or a newer one, is refused.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	build := func(name, source string, arguments ...string) string {
		from, path := filepath.Join(dir, name+".cpp"), filepath.Join(dir, name)
		if err := os.WriteFile(from, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("c++", append([]string{"-o", path, from}, arguments...)...).CombinedOutput(); err != nil {
			t.Skipf("no program to check can be built: %v\n%s", err, out)
		}
		return path
	}
	// A library with versions of a C library that does not exist yet.
	versions := filepath.Join(dir, "versions")
	if err := os.WriteFile(versions, []byte("GLIBC_9.1 { global: later; };\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	future := build("future.so", `extern "C" void later() {}`, "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libm.so.6", "-Wl,--version-script="+versions)
	for _, c := range []struct{ program, want string }{
		{build("plain", `#include <stdio.h>
int main() { return puts(""); }`, "-nodefaultlibs", "-nostartfiles", "-lc", "-Wl,-e,main"), ""},
		{build("library", "#include <string>\nint main(int n, char** v) { return std::string(v[0]).size() + n; }"),
			"needs libstdc++.so.6, which manylinux_2_28 does not promise"},
		{build("newer", `extern "C" void later(); int main() { later(); }`, "-nostdlib", "-nostartfiles", future, "-Wl,-e,main"),
			"needs GLIBC_9.1 of libm.so.6; manylinux_2_28 has 2.28"},
		{versions, "bad magic number"},
	} {
		machine, err := check(c.program)
		switch {
		case c.want == "" && (err != nil || machine == ""):
			t.Errorf("%s: %q, %v", filepath.Base(c.program), machine, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", filepath.Base(c.program), err, c.want)
		}
	}
}

// A wheel whose library of the emulator is for another machine than the program is refused.
func TestOtherMachine(t *testing.T) {
	dir := t.TempDir()
	source, program, emulator := filepath.Join(dir, "p.c"), filepath.Join(dir, "program"), filepath.Join(dir, "emulator.so")
	if err := os.WriteFile(source, []byte("#include <stdio.h>\nint main() { return puts(\"\"); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-o", program, source, "-nodefaultlibs", "-nostartfiles", "-lc", "-Wl,-e,main").CombinedOutput(); err != nil {
		t.Skipf("no program can be built: %v\n%s", err, out)
	}
	machine, err := check(program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	other, number := "aarch64", byte(elf.EM_AARCH64)
	if machine == other {
		other, number = "x86_64", byte(elf.EM_X86_64)
	}
	text[18] = number
	if err := os.WriteFile(emulator, text, 0o600); err != nil {
		t.Fatal(err)
	}
	err = write(program, emulator, "", "", "", "", dir)
	if want := emulator + " is for " + other + ", and " + program + " for " + machine; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pyproject.toml")
	text := "[project]\nname = \"p\"\nversion = \"1.2\"\nrequires-python = \">=3.9\"\ndependencies = [\"a\"]\n[project.optional-dependencies]\nb = [\"c>=1; python_version < '3.11'\", \"d\"]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := readProject(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `Metadata-Version: 2.1
Name: p
Version: 1.2
Summary: 
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: a
Provides-Extra: b
Requires-Dist: c>=1; (python_version < '3.11') and extra == "b"
Requires-Dist: d; extra == "b"
`
	if got := p.metadata(); got != want {
		t.Errorf("%s", got)
	}
	if err := os.WriteFile(path, []byte("[project]\nname = \"p\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readProject(path); err == nil {
		t.Error("a project without a version is taken")
	}
}

// The files of the repository become a wheel whose record names each, executable where they are,
// and the same bytes each time.
func TestPack(t *testing.T) {
	t.Chdir("../../../..")
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("p"), 0o755); err != nil {
		t.Fatal(err)
	}
	emulator := filepath.Join(dir, "emulator-0-1.so")
	if err := os.WriteFile(emulator, []byte("e"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if err := os.WriteFile(filepath.Join(dir, shell), []byte(shell), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pack := func() []byte {
		p, err := readProject("python/pyproject.toml")
		if err != nil {
			t.Fatal(err)
		}
		list, err := collect(p, "tag", program, emulator, program, dir)
		if err != nil {
			t.Fatal(err)
		}
		text, err := list.pack(p.info())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	text := pack()
	if !bytes.Equal(text, pack()) {
		t.Error("the same files give other bytes")
	}
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		contents[f.Name] = string(b)
		if got, want := f.Mode()&0o100 != 0, f.Name == "symmrepl/bin/symmrepl" || strings.HasSuffix(f.Name, "man1/symmrepl.1"); got != want {
			t.Errorf("%s: executable is %v", f.Name, got)
		}
	}
	record := contents["symmrepl-0.1.0.dist-info/RECORD"]
	for name := range contents {
		if !strings.Contains(record, name+",") {
			t.Errorf("the record lacks %s", name)
		}
	}
	const kernel = "symmrepl-0.1.0.data/data/share/jupyter/kernels/symmrepl/"
	for name, want := range map[string]string{
		"symmrepl/__main__.py":                    "main()",
		"symmrepl/bin/emulator-0-1.so":            "e",
		"symmrepl/notebooks/contents.ipynb":       "01-hello-ranks.ipynb",
		"symmrepl/notebooks/display.ipynb":        "cells",
		"symmrepl/notebooks/01-hello-ranks.ipynb": "Hello, ranks",
		kernel + "kernel.json":                    `"{resource_dir}/../../../../bin/symmrepl"`,
		kernel + "logo-64x64.png":                 "PNG",
		"symmrepl-0.1.0.data/data/share/jupyter/labextensions/symmrepl/package.json":          `"version": "0.1.0"`,
		"symmrepl-0.1.0.data/data/share/jupyter/labextensions/symmrepl/static/remoteEntry.js": "_JUPYTERLAB",
		"symmrepl-0.1.0.dist-info/entry_points.txt":                                           "symmrepl = symmrepl.__main__:main",
		"symmrepl-0.1.0.dist-info/WHEEL":                                                      "Tag: tag",
		"symmrepl-0.1.0.dist-info/licenses/LICENSE":                                           "Apache License",
		"symmrepl-0.1.0.data/data/share/bash-completion/completions/symmrepl":                 "bash",
	} {
		if !strings.Contains(contents[name], want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
}
