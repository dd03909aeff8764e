package jupyter

import (
	"embed"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
)

//go:embed logo-32x32.png logo-64x64.png logo-svg.svg
var logos embed.FS

// ValidName reports whether Jupyter lists a kernel of this name.
func ValidName(name string) bool { return validName.MatchString(name) }

// Spec describes a kernel to Jupyter.
type Spec struct {
	Name    string   // of its folder, a ValidName; "symmrepl" when empty
	Display string   // the name that front ends show
	Argv    []string // the command that starts it; the connection file's name follows
	Version string   // of the program
}

var validName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// Install writes the spec to a folder that Jupyter searches: below prefix, or of this user if
// prefix is empty. Beside the spec it writes a Python wheel that adds Go to nbconvert and
// papermill, and where JupyterLab finds it an extension that highlights the text of kernels. It
// returns the folder of the spec.
func (s Spec) Install(prefix string) (string, error) {
	if s.Name == "" {
		s.Name = "symmrepl"
	}
	data := filepath.Join(prefix, "share", "jupyter")
	if prefix == "" {
		var err error
		if data, err = userData(); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(data, "kernels", s.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(map[string]any{
		"argv": append(s.Argv, "{connection_file}"), "display_name": s.Display, "language": "go", "interrupt_mode": "message",
		"metadata": map[string]any{"debugger": true},
	}, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), append(text, '\n'), 0o644); err != nil {
		return "", err
	}
	entries, err := logos.ReadDir(".")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		picture, err := logos.ReadFile(e.Name())
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), picture, 0o644); err != nil {
			return "", err
		}
	}
	modules, err := wheel(s.Version)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, wheelName(s.Version)), modules, 0o644); err != nil {
		return "", err
	}
	return dir, installLabExtension(data, s.Version)
}

// userData returns Jupyter's folder for a user's own data.
func userData() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}
