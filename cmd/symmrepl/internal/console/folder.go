package console

import (
	"os"
	"path/filepath"
	"strings"
)

// Path returns the path of a file that the user names: relative to the home if the name begins with
// ~, else relative to the folder of SetFolder.
func (c *Console) Path(name string) string {
	name = atHome(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folder == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.folder, name)
}

// SetFolder sets the folder of shell lines and of files that commands name; "" means the folder of
// this process.
func (c *Console) SetFolder(folder string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folder = folder
}

// atHome replaces a leading ~ by the user's home, as a shell does.
func atHome(name string) string {
	rest, short := strings.CutPrefix(name, "~")
	home, err := os.UserHomeDir()
	if !short || err != nil || rest != "" && rest[0] != '/' {
		return name
	}
	return home + rest
}
