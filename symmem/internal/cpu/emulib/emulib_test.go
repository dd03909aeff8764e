package emulib

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/symmrepl/symmrepl/kernels"
)

// Of the libraries in a folder, only a whole one of the same files is taken.
func TestPrebuilt(t *testing.T) {
	files := []kernels.File{{Name: "cpu/emu/api.cpp", Text: "int a;"}, {Name: "cpu/emu/api.h", Text: ""}}
	others := []kernels.File{{Name: "cpu/emu/api.cpp", Text: "int a;"}, {Name: "cpu/emu/api.h", Text: "\n"}}
	right, here := []byte("code"), prefix(runtime.GOARCH, files)
	name := here + rest(right)
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	for _, c := range []struct {
		what, name string
		content    []byte
		taken      bool
	}{
		{"the library", name, right, true},
		{"one of other files", prefix(runtime.GOARCH, others) + rest(right), right, false},
		{"one of a program before", strings.Replace(name, "emulator-", "emulator-0", 1), right, false},
		{"one that was cut short", name, right[:len(right)-1], false},
		{"one that is empty", name, nil, false},
		{"one with a byte changed", name, []byte("cod\x00"), false},
		{"one for another machine", prefix(other, files) + rest(right), right, false},
		{"a name that ends early", here, right, false},
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, c.name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Prebuilt(folder, files); (got == path) != c.taken || !c.taken && got != "" {
			t.Errorf("%s: %q", c.what, got)
		}
	}
	folder := t.TempDir()
	if got := Prebuilt(filepath.Join(folder, "missing"), files); got != "" {
		t.Errorf("a folder that is missing has %q", got)
	}
	// A folder and a pipe of that name, and a broken library, hide no good one.
	if err := syscall.Mkfifo(filepath.Join(folder, here+"00.so"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, here+"0.so"), 0o700); err != nil {
		t.Fatal(err)
	}
	for broken, content := range map[string][]byte{here + "1.so": right, name: right} {
		if err := os.WriteFile(filepath.Join(folder, broken), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := Prebuilt(folder, files); got != filepath.Join(folder, name) {
		t.Errorf("beside broken ones: %q", got)
	}
}

// The library is built of all files of the emulator, and of no others.
func TestUnit(t *testing.T) {
	module := os.DirFS("../../../..")
	files, err := Sources(module)
	if err != nil {
		t.Fatal(err)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(files, func(f kernels.File) bool { return f.Name == name })
	}
	for _, name := range []string{"cpu/emu/api.cpp", "cpu/emu/api.h", "cpu/emu/switch_arm64.S", "cpu/emu/include/cuda_on_cpu.h", "net/proxy/watcher.h"} {
		if !has(name) {
			t.Errorf("the sources lack %s", name)
		}
	}
	if has("cpu/emu/emu.go") {
		t.Error("the sources have files of Go")
	}
	arguments, unit := Unit(files, "/from", "/to.so")
	if !strings.Contains(unit, "#include \"/from/cpu/emu/api.cpp\"\n") || strings.Contains(unit, ".h\"") || strings.Contains(unit, "/include/") {
		t.Errorf("the unit is\n%s", unit)
	}
	want := []string{"-o", "/to.so", "-x", "c++", "-", "-x", "assembler-with-cpp", "/from/cpu/emu/switch_amd64.S", "/from/cpu/emu/switch_arm64.S",
		"-x", "none", "-ldl", "-lm", "-lpthread", "-lrt"}
	if !slices.Equal(arguments, want) {
		t.Errorf("the arguments are %q", arguments)
	}
	empty, err := Sources(fstest.MapFS{})
	if err != nil || len(empty) != 0 {
		t.Errorf("of no module the sources are %v (%v)", empty, err)
	}
}

// What a compiler leaves replaces the libraries before it, and nothing else in the folder; one that fails
// leaves them.
func TestPrebuild(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.WriteFile(filepath.Join(dir, "library"), []byte("code"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A compiler that copies a file to what follows -o, and wants the text that it is to read.
	works := script("works", `case "$*" in "c++ "*" -target x86_64-linux-gnu.2.28 "*|"c++ "*" -target aarch64-linux-gnu.2.28 "*) ;; *) exit 1 ;; esac
while [ "$1" != -o ]; do shift; done
grep -q 'cpu/emu/a.cpp' && cp "`+dir+`/library" "$2"`)
	files := []kernels.File{{Name: "cpu/emu/a.cpp", Text: "int a;"}}
	folder := filepath.Join(dir, "below", "emulator")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"emulator-0-1.so", "symmrepl"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if path, err := Prebuild(script("fails", "exit 3\n"), runtime.GOARCH, folder, files); err == nil || path != "" ||
		!strings.Contains(err.Error(), "fails c++: exit status 3") {
		t.Errorf("a compiler that fails: %q, %v", path, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "emulator-0-1.so")); err != nil {
		t.Errorf("after it: %v", err)
	}
	path, err := Prebuild(works, runtime.GOARCH, folder, files)
	if err != nil {
		t.Fatal(err)
	}
	if got := Prebuilt(folder, files); got != path {
		t.Errorf("%q is built, and %q found", path, got)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 2 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}
