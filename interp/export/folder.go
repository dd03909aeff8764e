package export

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl"
	"github.com/symmrepl/symmrepl/interp/export/modules"
	"github.com/symmrepl/symmrepl/interp/recorded"
	"github.com/symmrepl/symmrepl/session"
)

// modulePath is the path of this module, and moduleVersion its version in the go.mod of an exported
// program.
const (
	modulePath    = "github.com/symmrepl/symmrepl"
	moduleVersion = "v0.0.0"
)

// Folder writes the cells of a session of size ranks as a Go module with the sources of everything
// that it uses, so that the go command builds it without a network: main.go, go.mod and the folder
// vendor. It returns the files by path in the folder.
func Folder(cells []session.Cell, size int) (map[string][]byte, error) {
	own, err := ownModule()
	if err != nil {
		return nil, err
	}
	all, err := modules.All()
	if err != nil {
		return nil, err
	}
	all = append(all, own)
	text, err := newProgram(cells, size, fmt.Sprintf(folderHeader, size, goVersion(own)))
	if err != nil {
		return nil, err
	}
	v := vendored{modules: all, packages: map[string]map[string]bool{}}
	if err := v.addImports(text); err != nil {
		return nil, err
	}
	files := v.files()
	files["main.go"] = text
	files["go.mod"], files["vendor/modules.txt"] = v.describe(goVersion(own))
	return files, nil
}

// ownModule returns this module without its tests.
func ownModule() (*modules.Module, error) {
	m := &modules.Module{Path: modulePath, Version: moduleVersion, Files: map[string][]byte{}}
	err := fs.WalkDir(symmrepl.Sources, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case entry.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		m.Files[name], err = symmrepl.Sources.ReadFile(name)
		return err
	})
	return m, err
}

// goVersion returns the Go version in a module's go.mod, or "".
func goVersion(m *modules.Module) string {
	for line := range strings.Lines(string(m.Files["go.mod"])) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "go "); ok {
			return version
		}
	}
	return ""
}

// vendored collects the contents of the folder vendor.
type vendored struct {
	modules  []*modules.Module
	packages map[string]map[string]bool // folders of packages that the program uses, by module
}

// addImports adds the packages that a file imports, directly or indirectly.
func (v *vendored) addImports(source []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			err = v.add(imported)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds a package and its imports, unless it belongs to the standard library.
func (v *vendored) add(imported string) error {
	if !strings.Contains(domain(imported), ".") {
		return nil
	}
	known := false
	for _, m := range v.modules {
		if imported != m.Path && !strings.HasPrefix(imported, m.Path+"/") {
			continue
		}
		dir := strings.TrimPrefix(strings.TrimPrefix(imported, m.Path), "/")
		sources := m.Sources(dir)
		known = known || len(sources) > 0
		if len(sources) == 0 || v.packages[m.Path][dir] {
			continue
		}
		if v.packages[m.Path] == nil {
			v.packages[m.Path] = map[string]bool{}
		}
		v.packages[m.Path][dir] = true
		for _, name := range sources {
			if err := v.addImports(m.Files[name]); err != nil {
				return fmt.Errorf("%s/%s: %w", m.Path, name, err)
			}
		}
	}
	if !known {
		return &recorded.Error{Msg: "it imports " + imported + ", a package of your module, which stays there",
			Hint: "write one file for that module, with :export FILE.go"}
	}
	return nil
}

// files returns the files of the folder, by path: those of the packages, and files of folders
// without Go code, which the packages may use.
func (v *vendored) files() map[string][]byte {
	files := map[string][]byte{}
	for _, m := range v.modules {
		used := v.packages[m.Path]
		if used == nil {
			continue
		}
		for name, content := range m.Files {
			dir := strings.TrimPrefix(path.Dir(name), ".")
			if name != "go.mod" && (used[dir] || len(m.Sources(dir)) == 0) {
				files[path.Join("vendor", m.Path, name)] = content
			}
		}
	}
	return files
}

// describe returns the contents of go.mod and vendor/modules.txt.
func (v *vendored) describe(version string) (gomod, list []byte) {
	gomod = fmt.Appendf(nil, "module session\n\ngo %s\n\nrequire (\n", version)
	for _, m := range slices.SortedFunc(slices.Values(v.modules),
		func(a, b *modules.Module) int { return strings.Compare(a.Path, b.Path) }) {
		used := v.packages[m.Path]
		if used == nil {
			continue
		}
		gomod = fmt.Appendf(gomod, "\t%s %s\n", m.Path, m.Version)
		list = fmt.Appendf(list, "# %s %s\n## explicit", m.Path, m.Version)
		if version := goVersion(m); version != "" {
			list = fmt.Appendf(list, "; go %s", version)
		}
		list = append(list, '\n')
		for _, dir := range slices.Sorted(maps.Keys(used)) {
			list = fmt.Appendln(list, path.Join(m.Path, dir))
		}
	}
	return append(gomod, ")\n"...), list
}
