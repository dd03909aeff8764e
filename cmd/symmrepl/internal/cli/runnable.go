package cli

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// runnable is a script or program for symmrepl run.
type runnable struct {
	name  string   // of a file of cells, or of the file with the function main
	text  string   // of a file of cells
	files []string // of a program of several files, or of a folder
	line  int      // of its function main
}

// standardInput names standard input as a file.
const standardInput = "-"

// readScript reads a file of cells, a file of package main, or a program of package main that is a
// folder or several files. It returns the script and its own arguments, the first of which is its
// name.
func readScript(args []string) (runnable, []string, error) {
	name := args[0]
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		files, pkg, err := check.SourceFiles(name)
		switch {
		case err != nil:
			return runnable{}, nil, err
		case pkg != "main":
			return runnable{}, nil, fmt.Errorf("%s is package %s, and a program is package main", name, pkg)
		}
		s, err := readProgram(files)
		return s, args, err
	}
	if n := filesOfMain(args); n > 1 {
		s, err := readProgram(args[:n])
		return s, append([]string{name}, args[n:]...), err
	}
	text, err := readFile(name)
	return runnable{name: name, text: string(text)}, args, err
}

// readProgram finds the function main of a program.
func readProgram(files []string) (runnable, error) {
	for _, name := range files {
		text, err := readFile(name)
		if err != nil {
			return runnable{}, err
		}
		if line := cellfile.MainLine(string(text)); line > 0 {
			return runnable{name: name, files: files, line: line}, nil
		}
	}
	return runnable{}, fmt.Errorf("%s has no function main", filepath.Dir(files[0]))
}

// filesOfMain returns the number of leading arguments that are files of package main.
func filesOfMain(args []string) (n int) {
	for n < len(args) && filepath.Ext(args[n]) == ".go" {
		f, _ := parser.ParseFile(token.NewFileSet(), args[n], nil, parser.PackageClauseOnly)
		if f == nil || f.Name.Name != "main" {
			break
		}
		n++
	}
	return n
}

// readFile returns the text of a script.
func readFile(name string) ([]byte, error) {
	if name == standardInput {
		return wholefile.ReadAll(os.Stdin, "standard input", "a script", session.MaxSource)
	}
	return wholefile.Read(name, "a script", session.MaxSource)
}
