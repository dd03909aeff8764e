package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func cd() console.Command {
	return console.Command{
		Name: "cd", Args: "[FOLDER]", Group: program, Where: console.AllRanks,
		Help: `change the folder of all ranks, of "$" lines and of files that commands name
":cd" changes to your home. The folder may stand in quotes. The change is recorded as a cell, so that a replay repeats it, and
":save" writes it as a line "// %%cd FOLDER". A fresh worker without replay is in the folder in which the session began;
after ":restart" of all ranks, so are "$" lines and files.`,
		Complete: completeFolder,
		Run:      runCd,
	}
}

// runCd changes the folder of all ranks, by a cell that is recorded, and then the console's folder.
func runCd(ctx context.Context, c *console.Call) console.Outcome {
	folder, err := existingFolder(c)
	if err != nil {
		return c.Fail(err)
	}
	outcome := c.Reply(c.Eval(ctx, session.Cell{Folder: folder, Output: c.Request.Printer.Output}))
	if outcome == console.Done {
		c.Console.SetFolder(folder)
	}
	return outcome
}

// existingFolder returns the full name of the folder that the argument names; by default, the
// user's home. The folder must exist on this machine.
func existingFolder(c *console.Call) (string, error) {
	name := cmp.Or(c.Arg, "~")
	if unquoted, err := strconv.Unquote(name); err == nil {
		name = unquoted
	}
	folder, err := filepath.Abs(c.Console.Path(name))
	if err != nil {
		return "", err
	}
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", folder)
	}
	return folder, nil
}

func completeFolder(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
	files, word := c.CompleteFile(arg)
	return slices.DeleteFunc(files, func(f session.Candidate) bool { return !strings.HasSuffix(f.Name, "/") }), word
}
