package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// compiled is a cell that yaegi has accepted.
type compiled struct {
	*check.Cell
	packages []*compiled // packages of modules, which are initialised before the cell runs
	lowered  *lower.Cell
	decls    *interp.Program // nil if the cell declares nothing
	methods  *interp.Program // nil if the cell declares no methods
	main     *interp.Program
	retired  []*lower.Storage // storage of variables whose names were defined again
	own      []span           // the cell's own statements
	funcs    []span           // the function literals in them
	assigned []string         // names of variables of the session: see assigned
	columns  int              // width of values on the user's screen, 0 if unknown
	brief    bool             // the code surely ends soon: see check.Cell.Brief
}

// compileAll compiles a checked cell, and before it the packages that it is the first to import.
func (in *Interp) compileAll(c *check.Cell) (*compiled, *session.Error) {
	var packages []*compiled
	for _, p := range c.Packages {
		out, err := in.compile(p)
		if err != nil {
			return nil, err
		}
		in.remember(out)
		packages = append(packages, out)
	}
	out, err := in.compile(c)
	if err != nil {
		return nil, err
	}
	out.packages = packages
	return out, nil
}

// span is a part of a cell's text.
type span struct{ begin, end token.Pos }

// within reports whether at is in one of spans.
func within(spans []span, at token.Pos) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.begin <= at && at < s.end })
}

// compile lowers a checked cell and gives it to yaegi. If yaegi accepts it, the session gets its
// definitions.
func (in *Interp) compile(c *check.Cell) (*compiled, *session.Error) {
	out := &compiled{Cell: c}
	for _, s := range c.Stmts { // lowering replaces these statements
		out.own = append(out.own, span{s.Pos(), s.End()})
		ast.Inspect(s, func(n ast.Node) bool {
			literal, is := n.(*ast.FuncLit)
			if is {
				out.funcs = append(out.funcs, span{literal.Pos(), literal.End()})
			}
			return !is
		})
	}
	in.runtime.Trees.NoteUses(c.Info)
	var err *session.Error
	if out.lowered, err = in.program.Lower(c, in.debugged); err != nil {
		return nil, err
	}
	in.runtime.Stops.AddPoints(out.lowered.Points)
	if err := in.compileLowered(out); err != nil {
		in.runtime.Stops.DropPoints(out.lowered.Points)
		out.lowered.Rollback()
		return nil, yaegiError(c, err)
	}
	retired, dropped := out.lowered.Commit()
	out.retired = retired
	for _, name := range dropped {
		in.runtime.Yaegi().Drop(name)
	}
	return out, nil
}

func (in *Interp) compileLowered(c *compiled) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	at := c.Body.Pos()
	if len(c.lowered.Hidden) > 0 {
		if err := in.runtime.Yaegi().Use(c.lowered.Hidden); err != nil {
			return err
		}
	}
	if err := in.compileTypes(c); err != nil {
		return err
	}
	if err := in.compileImports(at, c.lowered.Imports); err != nil {
		return err
	}
	if len(c.lowered.Decls) > 0 {
		if c.decls, err = in.compileFile(at, c.lowered.Decls); err != nil {
			return err
		}
		if err := in.runtime.Natives.MendStructs(c.lowered.Structs()); err != nil {
			return err
		}
	}
	if c.main, err = in.compileFile(at, []ast.Decl{c.lowered.Main}); err != nil || c.lowered.Methods == nil {
		return err
	}
	c.methods, err = in.compileFile(at, []ast.Decl{c.lowered.Methods})
	return err
}

// compileTypes compiles the types of a cell before everything else if some of them contain
// themselves.
func (in *Interp) compileTypes(c *compiled) error {
	if len(c.lowered.Recursive) == 0 {
		return nil
	}
	symbols, complete := in.runtime.Natives.DeclareRecursive(c.lowered.Recursive)
	if err := in.runtime.Yaegi().Use(symbols); err != nil {
		return err
	}
	at := c.Body.Pos()
	if err := in.compileImports(at, c.lowered.Imports); err != nil {
		return err
	}
	if _, err := in.compileFile(at, c.lowered.First); err != nil {
		return err
	}
	if err := in.runtime.Natives.MendStructs(c.lowered.Structs()); err != nil {
		return err
	}
	return complete()
}

// declareOwn creates the variables that lowered code and the runtime share.
func (in *Interp) declareOwn() error {
	at, decls := in.program.Prelude()
	if err := in.compileImports(at, []string{contract.RuntimePath}); err != nil {
		return err
	}
	p, err := in.compileFile(at, decls)
	if err != nil {
		return err
	}
	_, err = in.runtime.Trees.ExecuteProgram(p)
	return err
}

func (in *Interp) compileFile(at token.Pos, decls []ast.Decl) (*interp.Program, error) {
	return in.runtime.Trees.Compile(&ast.File{Package: at, Name: &ast.Ident{NamePos: at, Name: check.PackageName}, Decls: decls})
}

// compileImports imports packages into yaegi, each once: all files have the same name, and so share
// their imports.
func (in *Interp) compileImports(at token.Pos, paths []string) error {
	var specs []ast.Spec
	slices.Sort(paths)
	for _, path := range paths {
		if in.imported[path] {
			continue
		}
		specs = append(specs, &ast.ImportSpec{
			Name: &ast.Ident{NamePos: at, Name: lower.ImportName(path)},
			Path: &ast.BasicLit{ValuePos: at, Kind: token.STRING, Value: strconv.Quote(path)},
		})
	}
	if specs == nil {
		return nil
	}
	if _, err := in.compileFile(at, []ast.Decl{&ast.GenDecl{TokPos: at, Tok: token.IMPORT, Lparen: at, Specs: specs}}); err != nil {
		return err
	}
	for _, path := range paths {
		in.imported[path] = true
	}
	return nil
}

var yaegiPosition = regexp.MustCompile(`^(?:(\S*)` + check.FileName + `:)?(\d+):(\d+): `)

// yaegiError returns the error of a cell that go/types accepted but yaegi rejects.
func yaegiError(c *check.Cell, err error) *session.Error {
	msg, file, line, column := err.Error(), "", 1, 1
	if m := yaegiPosition.FindStringSubmatch(msg); m != nil {
		file = strings.TrimSuffix(m[1], "/")
		line, _ = strconv.Atoi(m[2])
		column, _ = strconv.Atoi(m[3])
		msg = strings.TrimPrefix(msg, m[0])
	}
	e := c.ErrorInFile(session.KindUnsupported, file, line, column, "the interpreter cannot run the code that begins here")
	e.Hint = "write it in another way: give its parts variables of their own, or put it into a function of its own"
	e.Detail = "yaegi says: " + contract.PlainNames(msg)
	return e
}
