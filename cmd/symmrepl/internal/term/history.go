package term

import (
	"os"
	"path/filepath"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/statedir"
)

// historyLimit is the number of lines kept.
const historyLimit = 5000

// historyFile returns the file that keeps what was typed, made with access for the user alone, or "" when
// there is no place for one.
func historyFile() string {
	dir := statedir.Dir()
	if dir == "" {
		return ""
	}
	name := filepath.Join(dir, "history")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return ""
	}
	defer f.Close()
	if f.Chmod(0o600) != nil {
		return ""
	}
	return name
}
