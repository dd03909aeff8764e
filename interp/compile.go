package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// compiled is a cell that yaegi has accepted.
type compiled struct {
	*checked
	lowered *Cell
	decls   *interp.Program // nil when the cell declares nothing
	methods *interp.Program // nil when it declares none
	main    *interp.Program
	retired []*storage  // of variables whose names mean something else now
	begins  []token.Pos // of the cell's own statements
}

// compile lowers a checked cell, gives it to yaegi and, when that succeeds, makes its definitions those of the session.
func (in *Interp) compile(c *checked) (*compiled, *session.Error) {
	out := &compiled{checked: c}
	for _, s := range c.stmts { // lowering leaves other statements there
		out.begins = append(out.begins, s.Pos())
	}
	var err *session.Error
	if out.lowered, err = in.program.Lower(c); err != nil {
		return nil, err
	}
	if err := in.compileLowered(out); err != nil {
		out.lowered.Rollback()
		return nil, yaegiError(c.cellText, err)
	}
	retired, dropped := out.lowered.Commit()
	out.retired = retired
	for _, name := range dropped {
		in.runtime.Yaegi().drop(name)
	}
	return out, nil
}

func (in *Interp) compileLowered(c *compiled) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	at := c.body.Pos()
	if len(c.lowered.Hidden) > 0 {
		if err := in.runtime.Yaegi().Use(c.lowered.Hidden); err != nil {
			return err
		}
	}
	if err := in.compileImports(at, c.lowered.Imports); err != nil {
		return err
	}
	if len(c.lowered.Decls) > 0 {
		if c.decls, err = in.compileFile(at, c.lowered.Decls); err != nil {
			return err
		}
	}
	if c.main, err = in.compileFile(at, []ast.Decl{c.lowered.Main}); err != nil || c.lowered.Methods == nil {
		return err
	}
	c.methods, err = in.compileFile(at, []ast.Decl{c.lowered.Methods})
	return err
}

// declareOwn makes the variables that lowered code and the runtime share.
func (in *Interp) declareOwn() error {
	at, decls := in.program.Prelude()
	if err := in.compileImports(at, []string{runtimePath}); err != nil {
		return err
	}
	p, err := in.compileFile(at, decls)
	if err != nil {
		return err
	}
	_, err = in.runtime.Yaegi().Execute(p)
	return err
}

func (in *Interp) compileFile(at token.Pos, decls []ast.Decl) (*interp.Program, error) {
	return in.runtime.Yaegi().CompileAST(&ast.File{Package: at, Name: &ast.Ident{NamePos: at, Name: cellPackage}, Decls: decls})
}

// compileImports makes packages known to yaegi, each once: all files have one name, and so share their imports.
func (in *Interp) compileImports(at token.Pos, paths []string) error {
	var specs []ast.Spec
	slices.Sort(paths)
	for _, path := range paths {
		if in.imported[path] {
			continue
		}
		specs = append(specs, &ast.ImportSpec{
			Name: &ast.Ident{NamePos: at, Name: importName(path)},
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

var yaegiPosition = regexp.MustCompile(`^(?:` + fileName + `:)?(\d+):(\d+): `)

// yaegiError says that yaegi refused what go/types accepted.
func yaegiError(c *cellText, err error) *session.Error {
	msg, line, column := err.Error(), 1, 1
	if m := yaegiPosition.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		column, _ = strconv.Atoi(m[2])
		msg = strings.TrimPrefix(msg, m[0])
	}
	e := c.errorInFile(session.KindUnsupported, line, column, "the interpreter cannot run this: "+plainNames(msg))
	e.Hint = "write it in another way, or put it into a function of its own"
	return e
}
