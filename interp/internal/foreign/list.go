package main

import (
	"go/build/constraint"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// program is a file with its expected output.
type program struct {
	suite string
	name  string // relative to the suite's directory
	path  string
	files []string // further files of the program
	args  []string
	flags string // for the go command, in GOFLAGS
	src   string // a folder with packages that it imports, by import path; or ""
	want  string // standard output and standard error
	skip  string // why the toolchain cannot run it on this machine, or ""
}

// goPrograms lists the files below dir whose action is "run", as Go's own runner of these tests reads them.
func goPrograms(dir string) ([]program, error) {
	var list []program
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || inDir(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		action, skip := header(string(text))
		if len(action) == 0 || action[0] != "run" {
			return nil
		}
		want, err := os.ReadFile(strings.TrimSuffix(path, ".go") + ".out")
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		name, err := filepath.Rel(dir, path)
		p := program{suite: "go", name: name, path: path, args: arguments(action[1:]), want: string(want), skip: skip}
		// as in go run, which the action stands for
		for len(p.args) > 0 && filepath.Ext(p.args[0]) == ".go" {
			p.files, p.args = append(p.files, filepath.Join(filepath.Dir(path), p.args[0])), p.args[1:]
		}
		list = append(list, p)
		return err
	})
	return list, err
}

// inDir reports whether a file is a part of a program of several files.
func inDir(path string) bool { return strings.HasSuffix(filepath.Dir(path), ".dir") }

// header returns the words of a file's action, and the build constraint that excludes it on this
// machine.
func header(text string) (action []string, skip string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case constraint.IsGoBuild(line):
			if x, err := constraint.Parse(line); err == nil && !x.Eval(builds) {
				skip = line
			}
		case strings.HasPrefix(line, "//"):
			if words := strings.Fields(line[2:]); len(words) > 0 {
				return words, skip
			}
		default:
			return nil, skip
		}
	}
	return nil, skip
}

// arguments returns the program's arguments: flags before them are for the compiler.
func arguments(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	return words
}

// builds reports whether a build tag is set on this machine.
func builds(tag string) bool {
	return slices.Contains([]string{runtime.GOOS, runtime.GOARCH, "unix", "gc", "cgo"}, tag) || strings.HasPrefix(tag, "go1.")
}

// output matches the comment with the expected output at the end of one of yaegi's programs.
var output = regexp.MustCompile(`(?m)^// Output:\s*\n((?:(?://.*)?\n?)*)\z`)

// Lines of yaegi's programs that give build tags, and the folder of the packages that the program
// imports.
var (
	tagsLine   = regexp.MustCompile(`(?m)^// yaegi:tags (\S+)$`)
	gopathLine = regexp.MustCompile(`(?m)^// GOPATH:(\S+)$`)
)

// yaegiPrograms lists the files of dir with an expected output.
func yaegiPrograms(dir string) ([]program, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var list []program
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m := output.FindStringSubmatch(string(text))
		if m == nil {
			continue
		}
		var want strings.Builder
		for line := range strings.Lines(m[1]) {
			want.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "//"), " "))
		}
		p := program{suite: "yaegi", name: filepath.Base(path), path: path, want: want.String()}
		if m := tagsLine.FindStringSubmatch(string(text)); m != nil {
			p.flags = "-tags=" + m[1]
		}
		if m := gopathLine.FindStringSubmatch(string(text)); m != nil {
			p.src = filepath.Join(dir, m[1], "src")
		}
		list = append(list, p)
	}
	return list, nil
}
