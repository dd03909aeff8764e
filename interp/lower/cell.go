package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Cell is a lowered cell. Either Commit or Rollback ends it.
type Cell struct {
	Imports []string                                // import paths of the packages that it uses, under the names of ImportName
	Hidden  contract.Exports                        // symbols that it uses and that are in no table
	Types   map[string]types.Type                   // types that the runtime has to know, by key
	Decls   []ast.Decl                              // types, functions and variables; may be empty
	Local   map[*types.TypeName]contract.InFunction // types that functions declare
	// types to make before anything is compiled, and to complete before functions and variables are
	// compiled
	Recursive []contract.Recursive
	First     []ast.Decl // types to declare before Decls; may be empty
	// registers methods for compiled code, after Decls are executed; nil when there are none
	Methods *ast.FuncDecl
	Main    *ast.FuncDecl          // runs the cell's statements
	Replace []contract.Replacement // functions and methods that are defined again

	Points []*contract.Point // at which its code can stand; none if it cannot be debugged

	definitions *definitions
}

// Structs returns the struct types that the cell declares, by name in yaegi, and a function that
// returns a type's name in yaegi.
func (c *Cell) Structs() (structs map[string]*types.Struct, nameOf func(*types.Named) string) {
	l := c.definitions.l
	structs = map[string]*types.Struct{}
	for _, obj := range l.types {
		if n, ok := obj.Type().(*types.Named); ok {
			if st, ok := n.Underlying().(*types.Struct); ok {
				structs[l.ownType(n)] = st
			}
		}
	}
	return structs, l.ownType
}

// Variables returns the names in yaegi of the package-level variables that the cell declares there.
func (c *Cell) Variables() (names []string) {
	for _, s := range c.definitions.fresh {
		names = append(names, s.name)
	}
	return names
}

// Commit adds the cell's definitions to the session. It returns the variables whose names were
// defined again, and the names in yaegi of functions that no cell can call any more.
func (c *Cell) Commit() (retired []*Storage, dropped []string) {
	c.definitions.commit()
	return c.definitions.retired, c.definitions.dropped
}

// Rollback forgets a cell that yaegi rejected.
func (c *Cell) Rollback() { c.definitions.rollback() }

// Outdated lists the functions that go on calling the old version of a function that the cell has
// defined again with another signature, one line for each such function.
func (c *Cell) Outdated() (notes []string) {
	for _, k := range c.definitions.kept {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(k.users)) {
			names = append(names, fmt.Sprintf("%s (%s)", name, k.users[name]))
		}
		verb := "call"
		if len(names) == 1 {
			verb = "calls"
		}
		notes = append(notes, fmt.Sprintf("note: %s still %s the earlier %s%s; define it again to change that",
			strings.Join(names, ", "), verb, k.fn.Name(), strings.TrimPrefix(check.TypeName(k.fn.Signature()), "func")))
	}
	return notes
}

// Return forgets a cell that has run and is not committed. Pointers are those to the variables that
// it has declared in yaegi, by their names there; other cells may use these variables.
func (c *Cell) Return(pointers map[string]reflect.Value) {
	d := c.definitions
	d.rollback()
	for _, s := range d.fresh {
		if pointer, ok := pointers[s.name]; ok {
			s.pointer, s.captured, s.users = pointer, false, map[*check.Text]bool{}
			d.program.release(s)
		}
	}
}

// Lent returns the storage of a variable of a cell that is not committed, for which the cell was
// lowered: its name in yaegi.
func (c *Cell) Lent(v *types.Var) string { return c.definitions.l.places[v].name }
