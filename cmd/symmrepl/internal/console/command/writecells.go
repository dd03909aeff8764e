package command

import (
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
	"github.com/symmrepl/symmrepl/session"
)

// completeFile completes the name of a file, which "!" may precede.
func completeFile(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
	arg = strings.TrimLeft(arg, "! ")
	if _, last, name, err := cutRange(arg); err == nil && last > 0 {
		arg = name
	}
	return c.CompleteFile(arg)
}

// output is what a command writes: a file, or the files of a folder by their paths in it.
type output struct {
	file   []byte
	folder map[string][]byte
}

// writeCells writes cells of the session in some format to the file or folder that the argument names, those of a range such as 8-11 if one
// stands before the name, else all. "!" before the argument allows to overwrite what exists. An empty folder counts as nothing.
func writeCells(ctx context.Context, c *console.Call, format func(name string, cells []session.Cell) (output, error)) console.Outcome {
	name, overwrite := strings.CutPrefix(c.Arg, "!")
	first, last, name, err := cutRange(strings.TrimSpace(name))
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
	if last > 0 {
		cells = slices.DeleteFunc(slices.Clone(cells), func(cell session.Cell) bool { return cell.ID < first || cell.ID > last })
		if len(cells) == 0 {
			return c.Fail(fmt.Errorf("there is no cell with a number from %d to %d; :history shows the numbers", first, last))
		}
	}
	made, err := format(name, cells)
	switch {
	case err != nil:
	case made.folder != nil:
		err = writeFolder(path, made.folder)
	default:
		err = replaceFile(path, made.file)
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
	c.Print(written(name, len(cells)-failed, failed))
	return console.Done
}

// cutRange cuts a range of cells, such as 8-11 or 8, from the beginning of text. It is 0 to 0 if there is none.
func cutRange(text string) (first, last int, rest string, err error) {
	list, rest, _ := strings.Cut(text, " ")
	from, to, isRange := strings.Cut(list, "-")
	if !isRange {
		to = from
	}
	first, wrong := strconv.Atoi(from)
	last, wrongToo := strconv.Atoi(to)
	switch {
	case wrong != nil || wrongToo != nil:
		return 0, 0, text, nil
	case first < 1 || last < first:
		return 0, 0, "", fmt.Errorf("a range of cells such as 8-11 is expected, not %s", list)
	case strings.TrimSpace(rest) == "":
		return 0, 0, "", fmt.Errorf("the name of a file is expected after the cells %s", list)
	}
	return first, last, strings.TrimSpace(rest), nil
}

// written describes what a file holds.
func written(name string, cells, failed int) string {
	text := fmt.Sprintf("%s: %d cells", name, cells)
	if cells == 1 {
		text = name + ": 1 cell"
	}
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

// writeFolder writes files into a folder, by their paths in it. A folder that does not exist is there with all files or not at all; one that
// has other files keeps them.
func writeFolder(name string, files map[string][]byte) error {
	dir := name
	fresh := emptyFolder(name)
	if _, err := os.Lstat(name); fresh || errors.Is(err, fs.ErrNotExist) {
		fresh = true
		dir = fmt.Sprintf("%s.%d.part", filepath.Clean(name), os.Getpid())
		defer os.RemoveAll(dir)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[file], 0o644); err != nil {
			return err
		}
	}
	if !fresh {
		return nil
	}
	os.Remove(name) // an empty folder, which may be what is to be replaced
	return os.Rename(dir, name)
}

// replaceFile writes a file whole or not at all. Its errors name that file, not the temporary one.
func replaceFile(name string, text []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	part := fmt.Sprintf("%s.%d.part", name, os.Getpid())
	err := os.WriteFile(part, text, 0o644)
	if err == nil {
		err = os.Rename(part, name)
	}
	if err == nil {
		return nil
	}
	os.Remove(part)
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		path.Path = name
	case errors.As(err, &link):
		return &fs.PathError{Op: "replace", Path: name, Err: link.Err}
	}
	return err
}
