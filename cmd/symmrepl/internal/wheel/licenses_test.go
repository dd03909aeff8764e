package main

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The wheel has the terms of Go, of every module that is linked into the program, and of the C++
// library.
func TestLicenses(t *testing.T) {
	zig := t.TempDir()
	for _, name := range []string{"LICENSE", "lib/libcxx/LICENSE.TXT", "lib/libcxxabi/LICENSE.TXT", "lib/libunwind/LICENSE.TXT"} {
		path := filepath.Join(zig, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable() // with the modules of the package under test
	if err != nil {
		t.Fatal(err)
	}
	if wheel := os.Getenv("SYMMREPL_TEST_BINARY"); wheel != "" {
		program = wheel
	}
	list := files{}
	if err := list.addLicenses("licenses", program, zig); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	modules := linked(info)
	if len(modules) == 0 {
		t.Fatal("no module is linked into the program")
	}
	for _, m := range modules {
		if !list.below("licenses/" + m.Path + "/") {
			t.Errorf("no terms of %s", m.Path)
		}
	}
	for _, name := range []string{"licenses/go/LICENSE", "licenses/zig/LICENSE", "licenses/zig/lib/libcxx/LICENSE.TXT"} {
		if len(list[name].text) == 0 {
			t.Errorf("no %s", name)
		}
	}
	if err := (files{}).addTerms("x", t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no file with its license") {
		t.Errorf("a folder without terms: %v", err)
	}
}

// below reports whether a folder has a file that is not empty.
func (list files) below(folder string) bool {
	for name, f := range list {
		if strings.HasPrefix(name, folder) && len(f.text) > 0 {
			return true
		}
	}
	return false
}
