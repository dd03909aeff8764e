package tutorial

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// Progress is the progress of a user in each tutorial, by name.
type Progress map[string]Reached

// Reached is the progress in one tutorial.
type Reached struct {
	Step   int      `json:"step"`             // steps seen
	Solved []string `json:"solved,omitempty"` // titles of exercises
}

// Solve records that an exercise is solved.
func (r *Reached) Solve(title string) {
	if !slices.Contains(r.Solved, title) {
		r.Solved = append(r.Solved, title)
	}
}

// ReadProgress reads the progress from a folder. It is empty if the folder is "" or has no file
// that can be read.
func ReadProgress(dir string) Progress {
	p := Progress{}
	if text, err := os.ReadFile(progressFile(dir)); dir == "" || err != nil || json.Unmarshal(text, &p) != nil {
		return Progress{}
	}
	return p
}

// Write stores the progress in a folder, unless it is "".
func (p Progress) Write(dir string) error {
	if dir == "" {
		return nil
	}
	text, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		return err
	}
	part := progressFile(dir) + ".part"
	if err := os.WriteFile(part, text, 0o600); err != nil {
		return err
	}
	return os.Rename(part, progressFile(dir))
}

func progressFile(dir string) string { return filepath.Join(dir, "tutorials.json") }
