package check

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/session"
)

// Cell is a cell that type-checks.
type Cell struct {
	*Syntax
	Info         *types.Info
	Imports      map[string]string       // path by name, of the cell's own imports
	Dots         []string                // paths of those by a dot
	Auto         map[string]string       // those of them that the cell does not spell
	Objects      map[string]types.Object // functions, types and constants the cell declares
	Vars         []*types.Var            // variables of its top level, in order
	Values       []types.Type            // of the last expression; nil when there is none
	Value        ast.Expr
	AddedMethods []AddedMethod
	Generics     map[types.Object]*Generic // that the cell declares
}

// AddedMethod is a method of a type that an earlier cell declared.
type AddedMethod struct {
	Type   *types.Named
	Method *types.Func
	Again  bool // the type had it already
}

// Failure is a cell that does not parse or check.
type Failure struct {
	Err     *session.Error // without a hint
	Missing string         // the brackets that the cell leaves open, if it does not parse because it ends too early

	Attempt *Attempt  // at the check; nil if the cell does not parse
	Msg     string    // of go/types, the first in the cell
	At      token.Pos // where it is in the cell's syntax
}

// Error is that of the session's error.
func (f *Failure) Error() string { return f.Err.Error() }

// Syntax is a cell as syntax.
type Syntax struct {
	*Text
	imports []*ast.ImportSpec
	Decls   []ast.Decl // functions, types, constants
	Stmts   []ast.Stmt
	Body    *ast.FuncDecl // holds stmts
	List    []ast.Expr    // the cell ends with
}

// Generic is a declaration that has type parameters, or one of a package that is kept in source.
type Generic struct {
	Package *types.Package
	Func    *ast.FuncDecl           // nil for a type
	Methods []*ast.FuncDecl         // of a type
	Params  []string                // names of a function's type parameters
	Env     map[string]types.Object // what names mean in it, by name
	Imports map[string]string       // path by name
	consts  map[*ast.CallExpr]bool  // conversions of constants to a type parameter
	Text    *Text                   // where it stands; nil in packages
}
