// Package missing finds out which parts of the standard library symbol tables lack, from the export
// data of the Go installation.
package missing

import (
	"bytes"
	"fmt"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/traefik/yaegi/stdlib"
	"github.com/traefik/yaegi/stdlib/syscall"
	"github.com/traefik/yaegi/stdlib/unrestricted"
)

// Tables are symbol tables by "import/path/name", then by identifier.
type Tables = map[string]map[string]reflect.Value

// newPackages lists packages that yaegi does not know.
var newPackages = []string{
	"crypto/fips140", "crypto/hkdf", "crypto/hpke", "crypto/mlkem", "crypto/mlkem/mlkemtest", "crypto/pbkdf2", "crypto/sha3", "embed", "iter",
	"runtime/cgo", "runtime/coverage", "structs", "testing/cryptotest", "testing/synctest", "unique", "weak",
}

// Base returns yaegi's own tables.
func Base() Tables {
	return Join(stdlib.Symbols, syscall.Symbols, unrestricted.Symbols)
}

// Join returns the union of several tables.
func Join(sets ...map[string]map[string]reflect.Value) Tables {
	all := Tables{}
	for _, set := range sets {
		for key, table := range set {
			if all[key] == nil {
				all[key] = map[string]reflect.Value{}
			}
			maps.Copy(all[key], table)
		}
	}
	return all
}

// Names returns the names of the standard library that tables lack: see Of.
func Names(tables Tables) (map[string][]string, error) {
	paths := slices.Clone(newPackages)
	for key := range Base() {
		// The names in syscall differ between architectures; yaegi knows each.
		if p := path.Dir(key); p != "." && p != "syscall" && !strings.Contains(p, "yaegi") {
			paths = append(paths, p)
		}
	}
	return Of(tables, paths...)
}

// Of returns, by import path, the exported names of packages that their tables lack, the interfaces with
// methods that the tables lack, and the untyped constants that have another value. Generic declarations
// cannot be in tables.
func Of(tables Tables, paths ...string) (map[string][]string, error) {
	imp, err := exportData(paths)
	if err != nil {
		return nil, err
	}
	lacks := map[string][]string{}
	for _, importPath := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		pkg, err := imp.Import(importPath)
		if err != nil {
			return nil, err
		}
		table := tables[path.Join(importPath, pkg.Name())]
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() && fits(obj) && !has(table, obj) {
				lacks[importPath] = append(lacks[importPath], name)
			}
		}
	}
	return lacks, nil
}

// exportData makes an importer of compiled packages.
func exportData(paths []string) (types.Importer, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, paths...)...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, problem.String())
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[p] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(p string) (io.ReadCloser, error) { return os.Open(files[p]) }), nil
}

// fits reports whether a table can contain an object.
func fits(obj types.Object) bool {
	switch t := obj.Type().(type) {
	case *types.Signature:
		return t.TypeParams().Len() == 0
	case *types.Named:
		if _, isType := obj.(*types.TypeName); isType && t.TypeParams().Len() > 0 {
			return false
		}
	case *types.Alias:
		if t.TypeParams().Len() > 0 {
			return false
		}
	}
	if i, ok := obj.Type().Underlying().(*types.Interface); ok && !i.IsMethodSet() {
		return false
	}
	return true
}

// same reports whether two constants are equal. Tables hold constants of floating point with fewer digits.
func same(a, b constant.Value) bool {
	if b.Kind() != constant.Float {
		return constant.Compare(a, token.EQL, b)
	}
	x, _ := constant.Float64Val(a)
	y, _ := constant.Float64Val(b)
	return x == y
}

// has reports whether a table contains an object with all its methods, or a constant with its value.
func has(table map[string]reflect.Value, obj types.Object) bool {
	v, ok := table[obj.Name()]
	if !ok {
		return false
	}
	if c, isConstant := obj.(*types.Const); isConstant {
		if in, untyped := v.Interface().(constant.Value); untyped {
			return same(in, c.Val())
		}
	}
	wrapper, ok := table["_"+obj.Name()]
	if !ok {
		return true
	}
	i, ok := obj.Type().Underlying().(*types.Interface)
	if !ok {
		return true
	}
	for m := range i.Methods() {
		if _, ok := wrapper.Type().Elem().FieldByName("W" + m.Name()); m.Exported() && !ok {
			return false
		}
	}
	return true
}
