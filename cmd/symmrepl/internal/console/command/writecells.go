package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// completeFile completes the name of a file, which "!" may precede.
func completeFile(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
	return c.CompleteFile(strings.TrimLeft(arg, "! "))
}

// writeCells writes the session's cells in some format to the file that the argument names. "!" before the name allows
// to overwrite it.
func writeCells(ctx context.Context, c *console.Call, format func([]session.Cell) ([]byte, error)) console.Outcome {
	name, overwrite := strings.CutPrefix(c.Arg, "!")
	if name = strings.TrimSpace(name); name == "" {
		return c.Fail(errors.New("the name of a file is expected"))
	}
	path := c.Console.Path(name)
	if _, err := os.Lstat(path); err == nil && !overwrite {
		return c.Fail(fmt.Errorf("%s exists; :%s! %s overwrites it", name, c.Command.Name, name))
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c.Fail(err)
	}
	cells, err := c.Console.Session.History(ctx)
	if err != nil {
		return c.Fail(err)
	}
	text, err := format(cells)
	if err == nil {
		err = replaceFile(path, text)
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
