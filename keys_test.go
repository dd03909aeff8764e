package symmrepl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
)

// mostWithoutKeys is the largest number of fields of a struct whose literals may lack the fields' names.
const mostWithoutKeys = 4

// TestKeys holds that literals of structs with many fields name the fields: otherwise a field that is added
// in the middle shifts the others, and if the types fit, nobody notices.
func TestKeys(t *testing.T) {
	k := keys{fset: token.NewFileSet(), types: map[string]ast.Expr{}}
	files := map[string]*ast.File{}
	for _, name := range sources(t) {
		f, err := parser.ParseFile(k.fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = f
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				k.types[path.Dir(name)+"."+s.Name.Name] = s.Type
			}
			return true
		})
	}
	if len(k.types) < 1000 {
		t.Errorf("%d types are found; most are missed", len(k.types))
	}
	for name, f := range files {
		if ast.IsGenerated(f) {
			continue
		}
		k.enter(name, f)
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || lit.Type == nil { // one without a type belongs to the one around it
				return true
			}
			k.check(t, lit, k.folder, lit.Type)
			return true
		})
	}
}

// keys finds literals of structs without keys.
type keys struct {
	fset    *token.FileSet
	types   map[string]ast.Expr // declared in the module, by folder and name
	folder  string              // of the file in hand
	imports map[string]string   // its imports from this module: folders by name
}

// enter takes a file in hand.
func (k *keys) enter(name string, f *ast.File) {
	k.folder, k.imports = path.Dir(name), map[string]string{}
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if folder, ours := strings.CutPrefix(imported, module+"/"); ours {
			local := path.Base(folder)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			k.imports[local] = folder
		}
	}
}

// check checks a literal of a type, which is written in a folder, and the literals in it that leave out
// their types.
func (k *keys) check(t *testing.T, lit *ast.CompositeLit, folder string, typ ast.Expr) {
	folder, typ = k.resolve(folder, typ)
	var inner ast.Expr
	switch typ := typ.(type) {
	case *ast.StructType:
		fields := 0
		for _, f := range typ.Fields.List {
			fields += max(len(f.Names), 1)
		}
		if len(lit.Elts) == 0 || fields <= mostWithoutKeys {
			return
		}
		if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); !keyed {
			t.Errorf("%s: a literal of a struct with %d fields has no keys", k.fset.Position(lit.Pos()), fields)
		}
		return
	case *ast.ArrayType:
		inner = typ.Elt
	case *ast.MapType:
		inner = typ.Value
	default:
		return
	}
	if star, ok := inner.(*ast.StarExpr); ok {
		inner = star.X
	}
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if one, ok := e.(*ast.CompositeLit); ok && one.Type == nil {
			k.check(t, one, folder, inner)
		}
	}
}

// resolve follows the names of a type to its declaration in this module, and returns the declaration's
// folder.
func (k *keys) resolve(folder string, typ ast.Expr) (string, ast.Expr) {
	for range 8 { // a name may be declared by another name
		name := ""
		switch e := typ.(type) {
		case *ast.Ident:
			name = e.Name
		case *ast.IndexExpr: // of a generic type
			typ = e.X
			continue
		case *ast.SelectorExpr:
			pkg, ok := e.X.(*ast.Ident)
			if !ok || folder != k.folder { // of a declaration in another file, whose imports are not known
				return folder, nil
			}
			folder, name = k.imports[pkg.Name], e.Sel.Name
		default:
			return folder, typ
		}
		declared := k.types[folder+"."+name]
		if declared == nil {
			return folder, nil
		}
		typ = declared
	}
	return folder, nil
}
