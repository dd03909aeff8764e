package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
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
	decls   *interp.Program // nil when the cell declares nothing
	methods *interp.Program // nil when it declares none
	main    *interp.Program
	retired []*storage // of variables whose names mean something else now
	replace []replacement
	begins  []token.Pos // of the cell's own statements
}

// replacement is a function or method that is defined again: its earlier callers hold old, which gets the contents of fresh.
type replacement struct {
	typ        string // of a method, in yaegi
	old, fresh string
}

// compile lowers a checked cell, gives it to yaegi and, when that succeeds, makes its definitions those of the session.
func (in *Interp) compile(c *checked) (*compiled, *session.Error) {
	l := &lowerer{
		in: in, c: c, info: c.info,
		names: map[types.Object]string{}, renamed: map[types.Object]string{}, counters: map[types.Object]bool{}, hoisted: map[types.Object]bool{}, places: map[*types.Var]*storage{}, converters: map[string]string{}, asserted: map[string]types.Type{}, implementing: map[string]bool{}, imports: map[string]bool{runtimePath: true}, hidden: Exports{}, declared: map[types.Object]string{},
		types: map[*ast.TypeSpec]types.Object{}, instances: map[types.Object][]*instance{}, params: map[types.Object]bool{},
	}
	var begins []token.Pos // lowering leaves other statements there
	for _, s := range c.stmts {
		begins = append(begins, s.Pos())
	}
	d := in.define(l)
	low, err := l.cell()
	if err != nil {
		d.rollback()
		return nil, err
	}
	out := &compiled{checked: c, replace: d.replace, begins: begins}
	if err := in.compileLowered(low, d, out); err != nil {
		d.rollback()
		return nil, c.yaegiError(err)
	}
	d.commit()
	out.retired = d.retired
	return out, nil
}

func (in *Interp) compileLowered(low *lowered, d *definitions, out *compiled) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	at := out.body.Pos()
	if len(low.hidden) > 0 {
		if err := in.yaegi.Use(low.hidden); err != nil {
			return err
		}
	}
	if err := in.compileImports(at, low.imports); err != nil {
		return err
	}
	var decls []ast.Decl
	if len(low.types) > 0 {
		decls = append(decls, &ast.GenDecl{TokPos: at, Tok: token.TYPE, Lparen: at, Specs: low.types})
	}
	for _, f := range low.funcs {
		decls = append(decls, f)
	}
	for _, s := range d.fresh {
		spec := &ast.ValueSpec{Names: []*ast.Ident{{NamePos: at, Name: s.name}}, Type: d.l.typeExpr(s.typ, at)}
		decls = append(decls, &ast.GenDecl{TokPos: at, Tok: token.VAR, Specs: []ast.Spec{spec}})
	}
	// Types of variables may have needed imports and hidden symbols.
	if err := in.yaegi.Use(low.hidden); err != nil {
		return err
	}
	var more []string
	for path := range d.l.imports {
		more = append(more, path)
	}
	if err := in.compileImports(at, more); err != nil {
		return err
	}
	if len(decls) > 0 {
		if out.decls, err = in.compileFile(at, decls); err != nil {
			return err
		}
	}
	var body []ast.Stmt
	for _, s := range d.fresh {
		body = append(body, &ast.ExprStmt{X: d.l.helper(at, "Bind", d.l.quoted(at, s.name), d.l.address(d.l.ident(at, s.name)))})
	}
	body = append(body, low.body...)
	init := &ast.FuncDecl{
		Name: &ast.Ident{NamePos: at, Name: "init"},
		Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}},
		Body: &ast.BlockStmt{Lbrace: at, List: body, Rbrace: at},
	}
	if out.main, err = in.compileFile(at, []ast.Decl{init}); err != nil || low.methods == nil {
		return err
	}
	out.methods, err = in.compileFile(at, []ast.Decl{low.methods})
	return err
}

func (in *Interp) compileFile(at token.Pos, decls []ast.Decl) (*interp.Program, error) {
	return in.yaegi.CompileAST(&ast.File{Package: at, Name: &ast.Ident{NamePos: at, Name: cellPackage}, Decls: decls})
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

var (
	yaegiPosition = regexp.MustCompile(`^(?:` + fileName + `:)?(\d+):(\d+): `)
	versionSuffix = regexp.MustCompile(`(#t?|` + typeVersion + `)\d+`)
)

// yaegiError says that yaegi refused what go/types accepted.
func (c *cellText) yaegiError(err error) *session.Error {
	msg, line, column := err.Error(), 1, 1
	if m := yaegiPosition.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		column, _ = strconv.Atoi(m[2])
		msg = strings.TrimPrefix(msg, m[0])
		if line == 1 {
			column = max(column-len(stmtsHeader), 1)
		}
	}
	e := c.errorOf(session.KindUnsupported, []diagnostic{{line, column, "the interpreter cannot run this: " + plainNames(msg)}})
	e.Hint = "write it in another way, or put it into a function of its own"
	return e
}

// plainNames takes the marks out of a text that make the names of yaegi's symbols unique.
func plainNames(s string) string { return versionSuffix.ReplaceAllString(s, "") }
