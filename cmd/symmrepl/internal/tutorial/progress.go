package tutorial

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Progress is the progress of a user in each tutorial, by name.
type Progress map[string]Reached

// Reached is the progress in one tutorial.
type Reached struct {
	Step   int      `json:"step"`             // steps seen
	Solved []string `json:"solved,omitempty"` // titles of exercises
}

// solved reports whether an exercise is solved.
func (r Reached) solved(title string) bool { return slices.Contains(r.Solved, title) }

// Solve records that an exercise is solved.
func (r *Reached) Solve(title string) {
	if !r.solved(title) {
		r.Solved = append(r.Solved, title)
	}
}

// SolvedBy returns the exercise whose check is this source, as a prompt runs it or a notebook: the
// name of its tutorial, and its title. ok is false if it is no check.
func SolvedBy(source string) (name, title string, ok bool) {
	if !strings.Contains(source, Correct) {
		return "", "", false
	}
	all, err := All()
	if err != nil {
		return "", "", false
	}
	source = strings.TrimSpace(source)
	for _, l := range all {
		for _, e := range l.Exercises() {
			if source == e.Check.Source || source == e.Check.Code() {
				return l.Name, e.Title, true
			}
		}
	}
	return "", "", false
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
