package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// declarer makes declarations for yaegi that are not in the cell: functions that convert values to
// interfaces, types for unnamed structs, additional methods of declared types, and statements that
// register methods for compiled code.
type declarer struct {
	builder
	types      map[*ast.TypeSpec]types.Object
	recursive  []contract.Recursive // types that the cell declares
	locals     []*types.TypeName    // types that functions declare
	localSpecs []ast.Spec           // their declarations
	// named types that stand for unnamed struct types, by their text
	bearers    map[string]*types.Named
	converters map[string]converter  // functions that convert to interfaces, by the two types
	asserted   map[string]types.Type // interface types of cells that this cell asserts to, by key
	// pairs of a type and such an interface that this cell registers with the runtime
	implementing  map[string]bool
	declarations  []*ast.FuncDecl // of the functions above
	registrations []ast.Stmt      // statements that register methods for compiled code
}
