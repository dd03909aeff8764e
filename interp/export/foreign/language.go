package foreign

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// language writes the parts of Go in which the languages differ.
type language interface {
	only(ranks []int)                   // begins a block for some ranks
	end(start int)                      // ends it; it begins at a line
	body(list []ast.Stmt)               // the statements of a block, one step further in
	scoped(init ast.Stmt, write func()) // what write writes, in the scope of a statement before it
	forStatement(s *ast.ForStmt)
	rangeStatement(s *ast.RangeStmt)
	condition(tag string, t text) string   // of a case: t is equal to tag, if there is one
	assign(s *ast.AssignStmt)              // x, y = ...
	operate(s ast.Stmt)                    // x op= y and x++
	push(x ast.Expr, c *ast.CallExpr) bool // x = append(x, ...), with that call
	target(e ast.Expr) string              // the left side of an assignment to e, with its type if it is new
	typed(t types.Type, name string) string
	def(name string, sig *types.Signature, t *ast.FuncType, body *ast.BlockStmt)
	valueSpec(tok token.Token, spec *ast.ValueSpec)
	launch(kernel ast.Expr, c *ast.CallExpr) string
	free(id *ast.Ident) bool // of a tensor; id is nil if it is no variable

	literal(e *ast.BasicLit) text
	unary(e *ast.UnaryExpr) text
	binary(e *ast.BinaryExpr) text
	slice(e *ast.SliceExpr) text
	composite(e *ast.CompositeLit) text
	lambda(e *ast.FuncLit) text
	integer(e ast.Expr, v constant.Value) text
	number(e ast.Expr, s string) text // a number with a point
	builtin(c *ast.CallExpr, name string) text
	conversion(c *ast.CallExpr) text
	operands(args []ast.Expr) string // the arguments of an operation

	// Names of packages, and calls of symm, of other packages and of methods that no table has; or no text.
	member(e *ast.SelectorExpr) text
	special(c *ast.CallExpr, name string) text
	library(c *ast.CallExpr, qualified string) text
	method(c *ast.CallExpr, f *ast.SelectorExpr) text
}

// dialect holds the words of a language.
type dialect struct {
	name, host     string // of the language, and of the library with symmetric memory
	operations     string // of the library that has operations
	asGo           string // the end of "there is no pointer"
	comment        string // the beginning of a comment
	reserved       []string
	symm           string // the beginning of a name of that library
	end            string // of a statement
	when, elseWhen string // heads of blocks, with a condition
	otherwise      string
	close          string // the end of a block
	or             string
	several        string // several results
	fail           string // the statement that panics, if it is one
	labels, leaves string // why they are not carried over
	null           string // of pointers and interfaces; "" if there is none
	bools          map[bool]string
	quote          func(string) string
	arrays         string   // why a call with an array is not carried over; "" if it is
	timeout        string   // an argument of a method that is a timeout
	options        []string // types of arguments that are passed as they are
	tensors        map[string]string
	handles        map[string]string
	functions      map[string]string
	inPlace, into  string // a tensor gets the result of an operation
}
