// Package statedir finds the folder of the files that outlive a session: the history of entries,
// the progress in tutorials, and reports of crashes.
package statedir

import (
	"os"
	"path/filepath"
)

// Dir returns the folder, which it creates for access by the user alone, or "" if none can be
// created.
func Dir() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "symmrepl")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}
