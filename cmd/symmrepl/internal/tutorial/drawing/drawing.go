package drawing

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.svg
var files embed.FS

// SVG returns the picture of a name.
func SVG(name string) (string, error) {
	text, err := files.ReadFile(name + ".svg")
	if err != nil {
		return "", fmt.Errorf("there is no picture %q; there are %q", name, Names())
	}
	return string(text), nil
}

// Names lists the pictures, sorted.
func Names() (names []string) {
	list, _ := files.ReadDir(".") // the root of embedded files is always there
	for _, f := range list {
		names = append(names, strings.TrimSuffix(f.Name(), ".svg"))
	}
	return names
}
