package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command"
	"github.com/symmrepl/symmrepl/interp/export"
	"github.com/symmrepl/symmrepl/interp/export/foreign"
	"github.com/symmrepl/symmrepl/session"
	compile "github.com/symmrepl/symmrepl/symmem/foreign"
)

// programs returns the writers of sessions as programs.
func programs() command.Programs {
	return command.Programs{File: export.Program, Folder: export.Folder, Python: foreign.Python,
		Cpp: func(cells []session.Cell, size int) (map[string][]byte, error) {
			return foreign.Cpp(cells, size, foreign.Compiler{Cubin: compile.Cubin, Unit: compile.Unit, Flags: compile.Flags, Arch: "sm_90"})
		}}
}

// defaultSize is the number of ranks for which symmrepl export writes a program if -n does not say.
const defaultSize = 4

// exportFile runs symmrepl export FILE.go -o NAME: it writes the cells of a file as a program,
// without running them.
func exportFile(_ context.Context, o options, args []string) (int, error) {
	if len(args) != 1 || o.out == "" {
		return 0, misused("export needs a file of cells and a name for the program: symmrepl export hello.go -o hello.py")
	}
	if sameFile(args[0], o.out) {
		return 0, misused("export: -o %s would overwrite the cells: give another name for the program", o.out)
	}
	size := o.ranks
	if size == 0 {
		size = defaultSize
	}
	cells, err := fileCells(args[0], size)
	if err != nil {
		return 0, misused("export: %v", err)
	}
	made, err := programs().Make(o.out, o.cpp, cells, size)
	if err == nil {
		err = made.Write(o.out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "symmrepl: %v\n", err)
		return statusFailed, nil
	}
	fmt.Fprintln(stdout, command.Written(o.out, len(cells), 0))
	return statusOK, nil
}

// fileCells returns the cells of a file as the cells of a session of size ranks.
func fileCells(name string, size int) ([]session.Cell, error) {
	text, err := readFile(name)
	if err != nil {
		return nil, err
	}
	var cells []session.Cell
	for i, c := range cellfile.Parse(string(text)) {
		cell := session.Cell{ID: i + 1, Source: c.Source}
		if folder, ok := strings.CutPrefix(c.Source, "%%cd "); ok {
			cell.Source, cell.Folder = "", strings.Trim(strings.TrimSpace(folder), `"`)
		}
		if c.Ranks != "" {
			if cell.Ranks, err = session.ParseRanks(c.Ranks, size); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, c.Line-1, err)
			}
		}
		cells = append(cells, cell)
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("%s has no cells", name)
	}
	return cells, nil
}

// sameFile reports whether two names refer to one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
