package check

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/session"
)

// Text is the source of a cell and the positions of its syntax.
type Text struct {
	Name string // cell name in errors
	Line int    // line number of its first line in errors

	cell  session.Cell
	files []parsedFile

	locals []int // where functions declare types: see localtypes.go
}

// Syntax is a cell that parses.
type Syntax struct {
	*Text
	Decls []ast.Decl // functions, types and constants
	Stmts []ast.Stmt // everything else except imports, in the order of execution
	// if the cell ends with a list of expressions: the list; the last of Stmts assigns them
	List  []ast.Expr
	Body  *ast.FuncDecl // a function with the body Stmts
	Quiet bool          // a semicolon ends the cell: its last expression is evaluated but not shown

	imports []*ast.ImportSpec
	passing map[string]string // packages by name that this cell can use and the session does not keep
}

// Cell is a cell that type-checks, or a package of a module.
type Cell struct {
	*Syntax
	Package *types.Package // the package that it is; nil for a cell
	// packages of modules, which are initialised before the cell runs, in this order
	Packages []*Cell
	// the init functions of a package; the init functions of a cell are among its statements
	Inits []*ast.FuncDecl
	texts []*Text // texts of the files of a package
	dir   string  // the folder of these files

	Info         *types.Info
	Imports      map[string]string         // import paths of the cell's own imports, by name
	Dots         []string                  // import paths of dot imports
	Auto         map[string]string         // automatic imports among Imports
	Objects      map[string]types.Object   // functions, types and constants that it declares, by name
	Generics     map[types.Object]*Generic // the generic functions and types among them
	AddedMethods []AddedMethod             // methods that it adds to types of earlier cells
	Vars         []*types.Var              // top-level variables, in the order of their definition
	// the last expression, if its value is shown (or would be if the cell were not Quiet)
	Value  ast.Expr
	Values []types.Type // types of Value, or of List; nil if no value is shown
}

// AddedMethod is a method that a cell adds to an earlier cell's type.
type AddedMethod struct {
	Type   *types.Named
	Method *types.Func
	Again  bool // the type already had a method with that name
}

// Generic is a declaration with type parameters, or any declaration of a package that is kept as
// source.
type Generic struct {
	Package *types.Package
	Func    *ast.FuncDecl   // nil for a type
	Methods []*ast.FuncDecl // of a type
	Params  []string        // names of a function's type parameters
	// objects of names in the declaration that are declared outside of it
	Env     map[string]types.Object
	Imports map[string]string // import paths by the names that the declaration uses
	Text    *Text             // text of its cell; nil in packages

	consts map[*ast.CallExpr]bool // conversions of constants to a type parameter
}

// Failure is the error of a cell that does not parse or check, with the data that package help
// needs for a hint.
type Failure struct {
	Err *session.Error // without a hint
	// the closing brackets that are missing, if the cell does not parse because it ends too early
	Missing string

	Attempt *Attempt  // the check that failed; nil if the cell does not parse
	Msg     string    // go/types' message for the first error
	At      token.Pos // position of that error in the cell's syntax
}

// Error returns the text of the session's error.
func (f *Failure) Error() string { return f.Err.Error() }
