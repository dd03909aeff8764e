package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// lowerer rewrites a checked cell for yaegi. It changes or replaces syntax in place; positions
// remain those of the user's text.
type lowerer struct{ marker }

func (p *Program) newLowerer(c *check.Cell) *lowerer {
	return &lowerer{marker{
		counters: map[types.Object]bool{}, inFunctions: map[*types.TypeName]contract.InFunction{},
		declarer: declarer{
			types: map[*ast.TypeSpec]types.Object{}, bearers: map[string]*types.Named{}, converters: map[string]converter{},
			asserted:     map[string]types.Type{},
			implementing: map[string]bool{},
			builder: builder{
				imports: map[string]bool{contract.RuntimePath: true}, hidden: contract.Exports{}, noted: map[string]types.Type{},
				namer: namer{
					program: p, names: map[types.Object]string{}, declared: map[types.Object]string{}, renamed: map[types.Object]string{},
					hoisted: map[types.Object]bool{}, places: map[*types.Var]*Storage{}, params: map[types.Object]bool{},
					recursion: map[*types.Named]bool{}, instances: map[types.Object][]*instance{},
					facts: facts{checker: p.checker, c: c, info: c.Info},
				},
			},
		},
	}}
}

// lowered collects the results of lowering a cell.
type lowered struct {
	types []ast.Spec
	funcs []*ast.FuncDecl
	body  []ast.Stmt
}
