package check

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/session"
)

// Text is the source of a cell and where its syntax has positions.
type Text struct {
	Name string // by which errors cite it
	Line int    // of its first line, for errors

	cell  session.Cell
	files []parsedFile

	locals []int // where types are declared in functions: see localtypes.go
}

// Syntax is a cell that parses.
type Syntax struct {
	*Text
	Decls []ast.Decl    // functions, types and constants
	Stmts []ast.Stmt    // everything else but imports, in the order in which it runs
	List  []ast.Expr    // the expressions with which the cell ends, if there are several; the last of Stmts assigns them
	Body  *ast.FuncDecl // a function of Stmts
	Quiet bool          // a semicolon ends the cell: the value of its last expression is calculated, and not shown

	imports  []*ast.ImportSpec
	embedsFS bool // it uses embedName
}

// Cell is a cell that type-checks, or a package of a module.
type Cell struct {
	*Syntax
	Package  *types.Package  // that it is; nil for a cell
	Packages []*Cell         // of modules, which are initialised before the cell runs, in this order
	Inits    []*ast.FuncDecl // the init functions of a package; those of a cell are among its statements
	texts    []*Text         // of a package's files,
	dir      string          // which are in this folder

	Info         *types.Info
	Imports      map[string]string         // import paths of the cell's own imports, by name
	Dots         []string                  // import paths of those by a dot
	Auto         map[string]string         // those of Imports that the cell does not spell
	Objects      map[string]types.Object   // functions, types and constants that it declares, by name
	Generics     map[types.Object]*Generic // the generic functions and types among them
	AddedMethods []AddedMethod             // methods that it gives types of earlier cells
	Vars         []*types.Var              // variables of its top level, in the order of their definition
	Value        ast.Expr                  // the last expression, if its value is shown unless the cell is Quiet
	Values       []types.Type              // of Value, or of List; nil if no value is shown
}

// AddedMethod is a method that a cell gives a type of an earlier cell.
type AddedMethod struct {
	Type   *types.Named
	Method *types.Func
	Again  bool // the type had a method of that name already
}

// Generic is a declaration that has type parameters, or any declaration of a package that is kept in source.
type Generic struct {
	Package *types.Package
	Func    *ast.FuncDecl           // nil for a type
	Methods []*ast.FuncDecl         // of a type
	Params  []string                // names of a function's type parameters
	Env     map[string]types.Object // what names mean in it that are declared outside of it
	Imports map[string]string       // import paths by the names that it uses
	Text    *Text                   // of its cell; nil in packages

	consts map[*ast.CallExpr]bool // conversions of constants to a type parameter
}

// Failure is the error of a cell that does not parse or check, with what package help needs to say what may have been meant.
type Failure struct {
	Err     *session.Error // without a hint
	Missing string         // the brackets that would close what is open, if the cell does not parse because it ends too early

	Attempt *Attempt  // the check that failed; nil if the cell does not parse
	Msg     string    // what go/types says of the first error
	At      token.Pos // where that is in the cell's syntax
}

// Error returns the text of the session's error.
func (f *Failure) Error() string { return f.Err.Error() }
