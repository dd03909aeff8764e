package console

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// cdCell changes a rank's folder to one that is given in full, so that it does the same wherever the rank is.
const cdCell = `import "os"
if err := os.Chdir(%q); err != nil {
	panic(err)
}`

// cd changes the folder of all ranks, by a cell that is recorded as any other, and that of the console.
func (c *Console) cd(ctx context.Context, name string) Outcome {
	folder, err := c.folderCalled(name)
	if err != nil {
		return c.fail("cd", err)
	}
	reply := c.Session.Eval(ctx, session.Cell{Source: fmt.Sprintf(cdCell, folder), Output: c.Printer.Output})
	c.Printer.Reply(reply)
	if outcome(reply) == Done {
		c.setFolder(folder)
	}
	return outcome(reply)
}

// folderCalled returns the full name of a folder that there is on this machine; the user's home when it is called "".
func (c *Console) folderCalled(name string) (string, error) {
	if name == "" {
		name = "~"
	}
	folder, err := filepath.Abs(c.path(name))
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

// path is where a file is that the user names: below the home when the name begins with ~, or in the folder of `:cd`.
func (c *Console) path(name string) string {
	name = atHome(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folder == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.folder, name)
}

func (c *Console) setFolder(folder string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folder = folder
}

// atHome writes the user's home for a leading ~, as a shell does.
func atHome(name string) string {
	rest, short := strings.CutPrefix(name, "~")
	home, err := os.UserHomeDir()
	if !short || err != nil || rest != "" && rest[0] != '/' {
		return name
	}
	return home + rest
}

// go111module takes what a notebook of gophernotes may begin with.
func (c *Console) go111module(_ context.Context, arg string) Outcome {
	if arg != "on" && arg != "off" {
		return c.fail("go111module", fmt.Errorf("on or off is expected, not %q", arg))
	}
	c.Printer.Note(nil, "%%go111module does nothing here: cells import what is part of symmrepl, the standard library and gonum, and no other modules")
	return Done
}
