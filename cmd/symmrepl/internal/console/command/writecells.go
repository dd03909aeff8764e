package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
)

// completeFile completes the name of a file, which "!" may precede.
func completeFile(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
	arg = strings.TrimLeft(arg, "! ")
	if _, name, err := cutNumbers(arg); err == nil {
		arg = name
	}
	return c.CompleteFile(arg)
}

// Output is the result of a command: a file, the files of a folder by their paths in it, or a file
// and the files that it needs beside it, by their paths in its folder.
type Output struct {
	file           []byte
	folder, beside map[string][]byte
}

// Write writes it to a path, and overwrites existing files.
func (o Output) Write(path string) error {
	switch {
	case o.folder != nil:
		return writeFolder(path, o.folder)
	case o.beside != nil:
		return writeFiles(filepath.Dir(path), o.beside)
	}
	return wholefile.WriteBytes(path, o.file)
}

// inTheWay returns the name of a different file that would be overwritten beside the one at a path,
// or "".
func (o Output) inTheWay(path string) string {
	for _, name := range slices.Sorted(maps.Keys(o.beside)) {
		there, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err == nil && name != filepath.Base(path) && !bytes.Equal(there, o.beside[name]) {
			return name
		}
	}
	return ""
}

// writeCells writes cells of the session to the file or folder that the argument names. Numbers
// before the name, such as 8-11, select cells; by default it writes all. "!" before the argument
// permits to overwrite. An empty folder counts as nothing.
func writeCells(ctx context.Context, c *console.Call, format func(name string, cells []session.Cell) (Output, error)) console.Outcome {
	name, overwrite := strings.CutPrefix(c.Arg, "!")
	chosen, name, err := cutNumbers(strings.TrimSpace(name))
	switch {
	case err != nil:
		return c.Fail(err)
	case name == "":
		return c.Fail(errors.New("the name of a file is expected"))
	}
	path := c.Console.Path(name)
	if _, err := os.Lstat(path); err == nil && !overwrite && !emptyFolder(path) {
		return c.Fail(fmt.Errorf("%s exists; :%s! %s overwrites it", name, c.Command.Name, name))
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c.Fail(err)
	}
	cells, err := c.Console.Session.History(ctx)
	if err != nil {
		return c.Fail(err)
	}
	if chosen != nil {
		cells = slices.DeleteFunc(slices.Clone(cells), func(cell session.Cell) bool { return !chosen.has(cell.ID) })
		if len(cells) == 0 {
			return c.Fail(errors.New("there is no cell with such a number; :history shows the numbers"))
		}
	}
	made, err := format(name, cells)
	if err == nil && !overwrite {
		if other := made.inTheWay(path); other != "" {
			err = fmt.Errorf("%s beside %s is another; :%s! %s overwrites it", other, name, c.Command.Name, name)
		}
	}
	if err == nil {
		err = made.Write(path)
	}
	if err != nil {
		return c.Fail(err)
	}
	failed := 0
	for _, cell := range cells {
		if cell.Failed != "" {
			failed++
		}
	}
	c.Print(Written(name, len(cells)-failed, failed))
	return console.Done
}

// numbers are ranges of cell numbers.
type numbers [][2]int

func (n numbers) has(cell int) bool {
	return slices.ContainsFunc(n, func(r [2]int) bool { return r[0] <= cell && cell <= r[1] })
}

// cutNumbers cuts cell numbers, such as 8-11 or 1,3,8-11, off the beginning of text. It returns
// none if text does not begin with numbers.
func cutNumbers(text string) (chosen numbers, rest string, err error) {
	list, rest, _ := strings.Cut(text, " ")
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, wrong := strconv.Atoi(from)
		last, wrongToo := strconv.Atoi(to)
		switch {
		case wrong != nil || wrongToo != nil:
			return nil, text, nil
		case first < 1 || last < first:
			return nil, "", fmt.Errorf("numbers of cells such as 8-11 or 1,3 are expected, not %s", list)
		}
		chosen = append(chosen, [2]int{first, last})
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return nil, "", fmt.Errorf("the name of a file is expected after the cells %s", list)
	}
	return chosen, rest, nil
}

// Written describes the content of a file.
func Written(name string, cells, failed int) string {
	text := name + ": " + count.Of(cells, "cell")
	if failed > 0 {
		text += fmt.Sprintf(", and %d that failed as comments", failed)
	}
	return text
}

// emptyFolder reports whether path is a folder without anything in it.
func emptyFolder(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// writeFolder writes files into a folder, by their paths in it. A new folder appears with all files
// or not at all; an existing one keeps its other files.
func writeFolder(name string, files map[string][]byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	dir := name
	fresh := emptyFolder(name)
	if _, err := os.Lstat(name); fresh || errors.Is(err, fs.ErrNotExist) {
		fresh = true
		if err := os.MkdirAll(filepath.Dir(filepath.Clean(name)), 0o755); err != nil {
			return err
		}
		if dir, err = wholefile.MkdirBeside(name); err != nil {
			return &fs.PathError{Op: "write", Path: name, Err: errors.Unwrap(err)}
		}
		defer os.RemoveAll(dir)
	}
	if err := writeFiles(dir, files); err != nil || !fresh {
		return err
	}
	os.Remove(name) // an empty folder, which may be the one to be replaced
	return os.Rename(dir, name)
}

// writeFiles writes files into a folder, by their paths in it.
func writeFiles(dir string, files map[string][]byte) error {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := wholefile.WriteBytes(path, files[file]); err != nil {
			return err
		}
	}
	return nil
}
