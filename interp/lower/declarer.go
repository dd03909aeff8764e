package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run"
)

// declarer declares in yaegi what the cell does not declare itself: functions that convert values to interfaces, types for structs without a name, the methods that
// declared types get from us, and what makes those known to compiled code.
type declarer struct {
	builder
	types         map[*ast.TypeSpec]types.Object
	recursive     []run.Recursive         // types that the cell declares
	locals        []*types.TypeName       // types that functions declare
	localSpecs    []ast.Spec              // their declarations
	bearers       map[string]*types.Named // named types that stand for struct types without a name, by their text
	converters    map[string]converter    // functions that convert to interfaces, by the two types
	asserted      map[string]types.Type   // interface types of cells that this cell asserts to, by key
	implementing  map[string]bool         // pairs of a type and such an interface that the runtime knows from this cell
	declarations  []*ast.FuncDecl         // of such functions
	registrations []ast.Stmt              // that make methods known to compiled code
}
