package jupyter

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"strings"
)

// modules add support of Go to Python programs around Jupyter.
//
//go:embed python
var modules embed.FS

// entryPoints are the names by which nbconvert and papermill find the modules.
const entryPoints = `[nbconvert.exporters.script]
go = symmrepl_nbconvert:GoExporter

[papermill.engine]
symmrepl = symmrepl_papermill:Engine
`

// wheelName returns the name of the wheel's file for a version.
func wheelName(version string) string { return "symmrepl_jupyter-" + version + "-py3-none-any.whl" }

// wheel returns the modules as a Python wheel, which pip installs without a network; see
// https://packaging.python.org/en/latest/specifications/binary-distribution-format.
func wheel(version string) ([]byte, error) {
	var file bytes.Buffer
	z, record := zip.NewWriter(&file), ""
	add := func(name string, text []byte) error {
		sum := sha256.Sum256(text)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	entries, err := modules.ReadDir("python")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := modules.ReadFile("python/" + e.Name())
		if err != nil {
			return nil, err
		}
		if err := add(e.Name(), text); err != nil {
			return nil, err
		}
	}
	info := strings.TrimSuffix(wheelName(version), "-py3-none-any.whl") + ".dist-info/"
	for _, f := range []struct{ name, text string }{ // always in one order, so that the file is the same
		{"METADATA", "Metadata-Version: 2.1\nName: symmrepl-jupyter\nVersion: " + version + "\nSummary: Go for nbconvert and papermill\n"},
		{"WHEEL", "Wheel-Version: 1.0\nGenerator: symmrepl\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"entry_points.txt", entryPoints},
	} {
		if err := add(info+f.name, []byte(f.text)); err != nil {
			return nil, err
		}
	}
	if err := add(info+"RECORD", []byte(record+info+"RECORD,,\n")); err != nil {
		return nil, err
	}
	err = z.Close()
	return file.Bytes(), err
}
