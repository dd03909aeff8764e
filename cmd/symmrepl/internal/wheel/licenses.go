package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// licenseFile matches the names of files with the terms of a module.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// addLicenses adds the licences of all code in the program to a folder: of Go, of each Go module,
// and of the C++ library, whose sources are in zig's folder. A module without a licence is an
// error.
func (list files) addLicenses(folder, program, zig string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	root, err := goOutput("env", "GOROOT")
	if err != nil {
		return err
	}
	if err := list.addTerms(folder+"/go", root); err != nil {
		return err
	}
	for _, m := range linked(info) {
		text, err := goOutput("mod", "download", "-json", m.Path+"@"+m.Version) // a program may have been built elsewhere
		if err != nil {
			return err
		}
		var module struct{ Dir string }
		if err := json.Unmarshal([]byte(text), &module); err != nil {
			return err
		}
		if err := list.addTerms(folder+"/"+m.Path, module.Dir); err != nil {
			return err
		}
	}
	for _, part := range []string{"", "lib/libcxx", "lib/libcxxabi", "lib/libunwind"} {
		if err := list.addTerms(path.Join(folder, "zig", part), filepath.Join(zig, part)); err != nil {
			return err
		}
	}
	return nil
}

// linked returns the modules in a program, without its own.
func linked(info *debug.BuildInfo) (modules []*debug.Module) {
	for _, m := range info.Deps {
		if m.Version != "" && m.Version != "(devel)" {
			modules = append(modules, m)
		}
	}
	return modules
}

// addTerms adds the files with terms that are in one folder to another one of the wheel.
func (list files) addTerms(folder, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenseFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return err
		}
		list.add(path.Join(folder, e.Name()), text)
		found = true
	}
	if !found {
		return fmt.Errorf("%s, which is linked into the program, has no file with its license; the wheel must have it", from)
	}
	return nil
}

// goOutput returns the output of the command go.
func goOutput(arguments ...string) (string, error) {
	out, err := exec.Command("go", arguments...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
