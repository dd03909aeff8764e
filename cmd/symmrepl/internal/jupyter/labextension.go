package jupyter

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"
)

// labExtension is an extension of JupyterLab, in the form in which JupyterLab loads it.
//
//go:embed labextension
var labExtension embed.FS

// installLabExtension writes the extension below Jupyter's folder for data, where JupyterLab finds it
// when it starts.
func installLabExtension(data, version string) error {
	dir := filepath.Join(data, "labextensions", "symmrepl")
	if err := os.MkdirAll(filepath.Join(dir, "static"), 0o755); err != nil {
		return err
	}
	for name, to := range map[string]string{"package.json": "package.json", "remoteEntry.js": "static/remoteEntry.js"} {
		text, err := labExtension.ReadFile("labextension/" + name)
		if err != nil {
			return err
		}
		if name == "package.json" {
			text = bytes.Replace(text, []byte("VERSION"), []byte(version), 1)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
