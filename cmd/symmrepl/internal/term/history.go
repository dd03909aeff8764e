package term

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ergochat/readline"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/statedir"
)

// historyLimit is the number of entries kept.
const historyLimit = 5000

// history holds the entries of this session and of earlier ones; an entry may have several lines.
// In the history's file each entry is a line, with stored for line breaks.
type history struct {
	name    string   // of the file; "" if there is no place for one
	entries []string // oldest first
}

// readHistory reads the user's history and shortens its file if that has too many entries. The file is
// accessible to the user alone.
func readHistory() *history {
	h := &history{}
	dir := statedir.Dir()
	if dir == "" {
		return h
	}
	name := filepath.Join(dir, "history")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return h
	}
	defer f.Close()
	if f.Chmod(0o600) != nil {
		return h
	}
	h.name = name
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			h.entries = append(h.entries, line)
		}
		if err != nil {
			break
		}
	}
	if more := len(h.entries) - historyLimit; more > 0 {
		h.entries = slices.Delete(h.entries, 0, more)
		part := name + ".part"
		if os.WriteFile(part, []byte(strings.Join(h.entries, "\n")+"\n"), 0o600) == nil {
			os.Rename(part, name)
		}
	}
	return h
}

// add appends an entry, unless it repeats the last one. Errors of the file are dropped: the entry
// then lasts as long as the session.
func (h *history) add(entry string) {
	entry = strings.ReplaceAll(strings.TrimSpace(entry), "\n", string(stored))
	if entry == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return
	}
	h.entries = append(h.entries, entry)
	if h.name == "" {
		return
	}
	f, err := os.OpenFile(h.name, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteString(entry + "\n")
}

// give makes the entries the editor's history. The editor cannot add an entry of several lines to
// its own history: it would save the line that it last read.
func (h *history) give(editor *readline.Instance) {
	editor.ResetHistory()
	for _, entry := range h.entries {
		editor.SaveToHistory(entry)
	}
}
