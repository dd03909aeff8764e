package console

import (
	"os"
	"path/filepath"
	"strings"
)

// Path returns where a file is that the user names: below the home when the name begins with ~, else in the folder that
// SetFolder set.
func (c *Console) Path(name string) string {
	name = atHome(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folder == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.folder, name)
}

// SetFolder sets the folder of shell lines and of files that commands name; "" is that of this process.
func (c *Console) SetFolder(folder string) {
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
