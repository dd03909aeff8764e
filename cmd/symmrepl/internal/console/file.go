package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/session"
)

// File runs the cells of a file, whose positions cite name, and stops at the first that fails.
func (c *Console) File(ctx context.Context, name, text string) Outcome {
	for _, cell := range cellfile.Parse(text) {
		var ranks []int
		if cell.Ranks != "" {
			var err error
			if ranks, err = c.Ranks(cell.Ranks); err != nil {
				c.Printer.Fail("%s:%d: %v", name, cell.Line-1, err)
				return Failed
			}
		}
		outcome := c.Cell(ctx, session.Cell{Name: name, Line: cell.Line, Source: cell.Source, Ranks: ranks})
		if outcome != Done {
			return outcome
		}
	}
	return Done
}

func (c *Console) load(ctx context.Context, name string) Outcome {
	text, err := os.ReadFile(c.path(name))
	if err != nil {
		return c.fail("load", err)
	}
	return c.File(ctx, name, string(text))
}

func (c *Console) save(ctx context.Context, arg string) Outcome {
	return c.write(ctx, "save", arg, func(cells []session.Cell) ([]byte, error) {
		return []byte(cellfile.Format(cells)), nil
	})
}

func (c *Console) export(ctx context.Context, arg string) Outcome {
	return c.write(ctx, "export", arg, func(cells []session.Cell) ([]byte, error) { return c.Export(cells, c.Size) })
}

// write makes a file of the session's cells. arg is its name, after "!" if it may be there already.
func (c *Console) write(ctx context.Context, command, arg string, format func([]session.Cell) ([]byte, error)) Outcome {
	name, overwrite := strings.CutPrefix(arg, "!")
	if name = strings.TrimSpace(name); name == "" {
		return c.fail(command, errors.New("the name of a file is expected"))
	}
	if _, err := os.Lstat(c.path(name)); err == nil && !overwrite {
		return c.fail(command, fmt.Errorf("%s exists; :%s! %s overwrites it", name, command, name))
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c.fail(command, err)
	}
	cells, err := c.Session.History(ctx)
	if err != nil {
		return c.fail(command, err)
	}
	text, err := format(cells)
	if err == nil {
		err = replaceFile(c.path(name), text)
	}
	if err != nil {
		return c.fail(command, err)
	}
	failed := 0
	for _, cell := range cells {
		if cell.Failed != "" {
			failed++
		}
	}
	c.Printer.Print(written(name, len(cells)-failed, failed))
	return Done
}

// written says what a file holds.
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

// replaceFile writes a file whole or not at all. Its errors name that file, not the one that is to take its place.
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
