// Package modules holds the sources of the modules of others that programs exported from sessions use: what symmem and the packages that
// cells can import need to be compiled on Linux.
//
// They are modules.tar.gz, which gen makes of what go.mod asks for: go generate makes it anew when that changes, as a test holds. A name in
// it is MODULE@VERSION/FILE. The fonts are left out there, as the program has them anyway.
package modules

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationmonobold"
	"codeberg.org/go-fonts/liberation/liberationmonobolditalic"
	"codeberg.org/go-fonts/liberation/liberationmonoitalic"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansbolditalic"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifbolditalic"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
)

//go:generate go run ./gen modules.tar.gz

//go:embed modules.tar.gz
var archive []byte

// Module is a module with the files that programs need of it.
type Module struct {
	Path    string
	Version string
	Files   map[string][]byte // by path in the module: sources, go.mod and licences
}

// Sources returns the names of the Go files in a folder of the module, none if that is not a package. The folder of the module is "".
func (m *Module) Sources(dir string) []string {
	var names []string
	for name := range m.Files {
		if strings.HasSuffix(name, ".go") && strings.TrimPrefix(path.Dir(name), ".") == dir {
			names = append(names, name)
		}
	}
	return names
}

// All returns the modules, sorted by path.
func All() ([]*Module, error) {
	uncompressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	var all []*Module
	for files := tar.NewReader(uncompressed); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		module, rest, ok := strings.Cut(head.Name, "@")
		version, name, named := strings.Cut(rest, "/")
		if !ok || !named {
			return nil, fmt.Errorf("modules.tar.gz: %s is not MODULE@VERSION/FILE", head.Name)
		}
		if len(all) == 0 || all[len(all)-1].Path != module {
			all = append(all, &Module{Path: module, Version: version, Files: map[string][]byte{}})
		}
		m := all[len(all)-1]
		if m.Files[name], err = io.ReadAll(files); err != nil {
			return nil, err
		}
		if head.Size == 0 {
			m.Files[name] = font(name)
		}
	}
}

// font returns a font, which the archive has without its content.
func font(name string) []byte {
	switch name {
	case "liberationmonobold/LiberationMono-Bold.ttf":
		return liberationmonobold.TTF
	case "liberationmonobolditalic/LiberationMono-BoldItalic.ttf":
		return liberationmonobolditalic.TTF
	case "liberationmonoitalic/LiberationMono-Italic.ttf":
		return liberationmonoitalic.TTF
	case "liberationmonoregular/LiberationMono-Regular.ttf":
		return liberationmonoregular.TTF
	case "liberationsansbold/LiberationSans-Bold.ttf":
		return liberationsansbold.TTF
	case "liberationsansbolditalic/LiberationSans-BoldItalic.ttf":
		return liberationsansbolditalic.TTF
	case "liberationsansitalic/LiberationSans-Italic.ttf":
		return liberationsansitalic.TTF
	case "liberationsansregular/LiberationSans-Regular.ttf":
		return liberationsansregular.TTF
	case "liberationserifbold/LiberationSerif-Bold.ttf":
		return liberationserifbold.TTF
	case "liberationserifbolditalic/LiberationSerif-BoldItalic.ttf":
		return liberationserifbolditalic.TTF
	case "liberationserifitalic/LiberationSerif-Italic.ttf":
		return liberationserifitalic.TTF
	case "liberationserifregular/LiberationSerif-Regular.ttf":
		return liberationserifregular.TTF
	}
	return nil
}
