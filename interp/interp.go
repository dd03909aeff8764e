package interp

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"reflect"
	"sync"

	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/symbols"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// Exports are symbol tables in the form that `yaegi extract` writes: by "import/path/name", then by identifier.
type Exports = interp.Exports

// Options are what New needs; the zero value gives a session with the standard library and symmem.
type Options struct {
	// Packages are tables beside those of the standard library and symmem; they replace tables of the same key.
	Packages Exports
	// Names are packages that cells may use without an import, by the name they have there. They are added to
	// display, fmt, math, strings, time and symm.
	Names map[string]string
	// ConvertError turns the error that a cell panicked with into one of the session. It returns nil for errors it does not know.
	ConvertError func(error) *session.Error
	// Input is the standard input of cells; nil is an empty one.
	Input io.Reader
	// Inspect answers the topics that are not about the interpreter.
	Inspect func(context.Context, session.Query) (session.Answer, error)
}

// Interp is one session's interpreter. It satisfies session.Evaluator: Eval calls never overlap, Inspect may come at any time.
type Interp struct {
	options Options
	yaegi   *interp.Interpreter
	inside  *inside
	fset    *token.FileSet
	pkgs    *packages
	pkg     *types.Package // of all cells
	runtime *cellRuntime
	natives *natives
	stdin   stdin

	turn     sync.Mutex // held by the cell that runs
	mu       sync.Mutex // guards scope for Inspect
	scope    *scope
	cells    []*cellText // those whose positions may still be asked for
	retired  []*storage  // of variables whose name means something else now, which functions may still use
	imported map[string]bool
	docs     map[string]string // how the cells declare what they declare, by "name" or "Type.Method"
	stopped  *stopped          // a run that has not left; guarded by turn
}

// New makes an interpreter with an empty session.
func New(options Options) (*Interp, error) {
	in := &Interp{options: options, imported: map[string]bool{}, docs: map[string]string{}}
	if err := named.Check(); err != nil {
		return nil, err
	}
	in.natives = newNatives(in)
	in.stdin = newStdin(options.Input)
	in.runtime = newCellRuntime(in)
	in.yaegi = interp.New(interp.Options{Stdin: in.stdin.own, Stdout: os.Stdout, Stderr: foreignPanics{in.runtime}, Unrestricted: true})
	in.fset = in.yaegi.FileSet()
	tables := in.tables()
	if err := in.yaegi.Use(tables); err != nil {
		return nil, err
	}
	// The interpreter replaces some symbols of the standard library by its own when it is given the tables; a second
	// time puts ours back.
	if err := in.yaegi.Use(overridesAfterUse()); err != nil {
		return nil, err
	}
	inside, err := lookInside(in.yaegi)
	if err != nil {
		return nil, err
	}
	in.inside = inside
	in.pkgs = newPackages(in.fset, tables)
	if err := in.declareOwn(); err != nil {
		return nil, err
	}
	return in, in.openScope()
}

// tables are the symbols of all packages.
func (in *Interp) tables() Exports {
	tables := Exports{}
	for _, set := range append(symbols.Sets(), in.runtime.overrides(), in.stdin.symbols(), in.runtime.exports(), in.options.Packages) {
		for key, table := range set {
			if tables[key] == nil {
				tables[key] = map[string]reflect.Value{}
			}
			for name, value := range table {
				tables[key][name] = value
			}
		}
	}
	return tables
}

// openScope begins the session's scope, with the packages that need no import.
func (in *Interp) openScope() error {
	in.scope = newScope()
	in.pkg = types.NewPackage(cellPackage, cellPackage)
	preimport := map[string]string{"fmt": "fmt", "math": "math", "strings": "strings", "time": "time", "symm": symmemPath, "display": displayPath}
	for name, path := range in.options.Names {
		preimport[name] = path
	}
	for name, path := range preimport {
		if _, err := in.pkgs.Import(path); err != nil {
			return err
		}
		in.scope.imports[name] = path
	}
	in.scope.dots = []string{displayDot}
	return nil
}

// Variables of yaegi's that no cell sees.
const (
	markName = "position#" // the position of the statement that runs, for the position of a panic
	callName = "call#"     // that of the cell's own statement, which differs while a function runs that it has called
	boxName  = "box#"
	// How many deferred calls run because of a panic: only then a function that calls another in its place says so.
	panickingName = "panicking#"
)

// Packages that need no import.
const (
	symmemPath  = "github.com/symmrepl/symmrepl/symmem"
	displayPath = "github.com/symmrepl/symmrepl/display"
	displayDot  = displayPath + "/dot"
)

// Close ends what cells have left running, and gives up what the process keeps for the session if all of it has ended: what a compiled call blocks goes on
// to use that.
func (in *Interp) Close() {
	in.turn.Lock()
	defer in.turn.Unlock()
	if in.runtime.busy.Load() > 0 {
		in.stopLeft()
	}
	if in.runtime.busy.Load() == 0 {
		in.natives.release()
	}
}

// Eval runs one cell.
func (in *Interp) Eval(ctx context.Context, cell session.Cell) session.Result {
	in.turn.Lock()
	defer in.turn.Unlock()
	if in.stopped != nil && !in.join(false) {
		return session.Result{Err: in.stuckError()}
	}
	in.runtime.started()
	in.stdin.begin()
	defer in.runtime.busy.Add(-1)
	in.mu.Lock()
	c, err := in.prepare(cell)
	in.mu.Unlock()
	if err != nil {
		return session.Result{Err: err}
	}
	return in.execute(ctx, c)
}

// prepare does everything that comes before running: parse, check, lower, compile.
func (in *Interp) prepare(cell session.Cell) (out *compiled, err *session.Error) {
	base := in.fset.Base()
	defer func() {
		if err != nil {
			in.forgetFilesFrom(base)
		}
	}()
	src, err := in.parse(cell)
	if err != nil {
		return nil, err
	}
	checked, err := in.check(src)
	if err != nil {
		return nil, err
	}
	declarations := checked.declarations() // compiling changes the syntax
	if out, err = in.compile(checked); err != nil {
		return nil, err
	}
	maps.Copy(in.docs, declarations)
	checked.noteImports()
	in.remember(out)
	return out, nil
}

var _ session.Evaluator = (*Interp)(nil)

// declareOwn makes the variables of our own: those that marks set, the count of what panics, and one of an interface type, which shows what yaegi stores in those.
func (in *Interp) declareOwn() error {
	l := &lowerer{in: in, imports: map[string]bool{}}
	at := token.Pos(in.fset.Base())
	in.fset.AddFile(fileName, int(at), 1)
	if err := in.compileImports(at, []string{runtimePath}); err != nil {
		return err
	}
	method := &ast.Field{Names: []*ast.Ident{l.ident(at, "M")}, Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}}}
	var decls []ast.Decl
	var binds []ast.Stmt
	for name, typ := range map[string]ast.Expr{
		markName: l.ident(at, "int"), callName: l.ident(at, "int"), panickingName: l.ident(at, "int"),
		boxName: &ast.InterfaceType{Interface: at, Methods: &ast.FieldList{Opening: at, List: []*ast.Field{method}}},
	} {
		v := l.ident(at, name)
		decls = append(decls, &ast.GenDecl{TokPos: at, Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{v}, Type: typ}}})
		binds = append(binds, &ast.ExprStmt{X: l.helper(at, "Bind", l.quoted(at, name), l.address(v))})
	}
	p, err := in.compileFile(at, append(decls, &ast.FuncDecl{
		Name: l.ident(at, "init"),
		Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}},
		Body: &ast.BlockStmt{Lbrace: at, List: binds, Rbrace: at},
	}))
	if err != nil {
		return err
	}
	_, err = in.yaegi.Execute(p)
	return err
}
