package interp

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// kindImport is a package that is not imported yet; it is offered when nothing else fits.
const kindImport = "import"

// placeholder stands at the cursor while the source is checked: a letter that nobody types.
const placeholder = typeVersion

// complete lists what the word at the end of src may become. Candidates begin with the word; if none does, those that do but
// for case.
func (in *Interp) complete(src string) []session.Candidate {
	in.mu.Lock()
	defer in.mu.Unlock()
	at := cursorIn(src)
	var found []session.Candidate
	switch {
	case at.importing:
		found = in.importPaths()
	case at.text:
		found = in.wordsFor(at.call)
	case !at.nothing:
		found = in.candidates(src[:len(src)-len(at.word)])
	}
	found = matching(found, at.word)
	for i := range found {
		found[i].Type = strings.ReplaceAll(found[i].Type, "\n", " ")
	}
	return found
}

// matching sorts the candidates that begin with word, each name once.
func matching(list []session.Candidate, word string) []session.Candidate {
	begin := func(equal func(a, b string) bool) []session.Candidate {
		return slices.DeleteFunc(slices.Clone(list), func(c session.Candidate) bool {
			return len(c.Name) < len(word) || !equal(c.Name[:len(word)], word) || c.Name == "_" || strings.ContainsAny(c.Name, "#"+typeVersion)
		})
	}
	found := begin(func(a, b string) bool { return a == b })
	if len(found) == 0 {
		found = begin(strings.EqualFold)
	}
	if slices.ContainsFunc(found, func(c session.Candidate) bool { return c.Kind != kindImport }) {
		found = slices.DeleteFunc(found, func(c session.Candidate) bool { return c.Kind == kindImport })
	}
	slices.SortStableFunc(found, func(a, b session.Candidate) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(found, func(a, b session.Candidate) bool { return a.Name == b.Name })
}

// cursor is what the end of a source is in the middle of.
type cursor struct {
	word      string // typed so far
	importing bool   // the word is an import path
	text      bool   // the word is in a string literal
	call      string // of which that is an argument: "symm.AllReduce"
	nothing   bool   // there is nothing to complete: a comment, a number
}

// cursorIn scans a source to its end.
func cursorIn(src string) cursor {
	var (
		s    scanner.Scanner
		file = token.NewFileSet().AddFile("", -1, len(src))
		open bool // the last token is a string or comment without an end
		last token.Token
		text string   // of the last token
		end  int      // of it
		pkgs bool     // within an import declaration
		head string   // the words before the last bracket
		call []string // those before each open bracket
	)
	s.Init(file, []byte(src), func(_ token.Position, msg string) { open = strings.Contains(msg, "not terminated") }, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF || tok == token.SEMICOLON && file.Offset(pos) == len(src) {
			break
		}
		last, text, end = tok, lit, file.Offset(pos)+max(len(lit), 1)
		switch tok {
		case token.IMPORT:
			pkgs = true
		case token.LPAREN, token.LBRACK, token.LBRACE:
			call, head = append(call, head), ""
		case token.RPAREN, token.RBRACK, token.RBRACE:
			call = call[:max(len(call)-1, 0)]
			head, pkgs = "", false
		case token.IDENT:
			head = strings.TrimLeft(head, " ") + lit
		case token.PERIOD:
			head += "."
		case token.SEMICOLON:
			pkgs = pkgs && len(call) > 0
		}
		if tok != token.IDENT && tok != token.PERIOD {
			head = ""
		}
	}
	at := cursor{}
	switch touching := end >= len(src); {
	case last == token.STRING && open && touching:
		at.word, at.text = strings.TrimLeft(text, "\"`"), true
		at.importing = pkgs
		if len(call) > 0 {
			at.call = call[len(call)-1]
		}
	case last == token.COMMENT && (open || touching), last == token.CHAR && open, last == token.STRING && touching,
		touching && (last == token.INT || last == token.FLOAT || last == token.IMAG || last == token.CHAR):
		at.nothing = true
	case touching && (last == token.IDENT || last.IsKeyword()):
		at.word = text
	}
	return at
}

// importPaths lists the packages that can be imported.
func (in *Interp) importPaths() []session.Candidate {
	var list []session.Candidate
	for path := range in.pkgs.importable() {
		list = append(list, session.Candidate{Name: path, Kind: "package"})
	}
	return list
}

// wordsFor lists the texts that an argument of a function may be.
func (in *Interp) wordsFor(call string) []session.Candidate {
	pkg, function, _ := strings.Cut(call, ".")
	if in.scope.imports[pkg] != symmemPath || !strings.Contains(function, "Reduce") {
		return nil
	}
	return []session.Candidate{
		{Name: "avg", Kind: "value"}, {Name: "max", Kind: "value"}, {Name: "min", Kind: "value"}, {Name: "sum", Kind: "value"},
	}
}

// candidates lists what may stand after before. The source is completed so that it parses, and checked as a cell is, errors or not.
func (in *Interp) candidates(before string) (list []session.Candidate) {
	p := in.sketch(before)
	defer func() {
		for _, f := range p.files {
			in.fset.RemoveFile(f.file)
		}
		if v := recover(); v != nil { // what does not parse may be of any shape
			list = nil
		}
	}()
	path := p.pathTo(placeholder)
	if path == nil {
		return nil
	}
	k := in.sketched(p)
	return k.offer(path)
}

// sketch parses a source that ends in the middle, with the placeholder at its end.
func (in *Interp) sketch(before string) *parsed {
	closers, _, _ := scanOpen(before + placeholder)
	// What may be missing stands at the word, before the first closing brace, or after it.
	inner, outer := len(closers), len(closers)
	if i := strings.IndexByte(closers, '}'); i >= 0 {
		inner, outer = i, i+1
	}
	best, reach := "", -1
	for _, fill := range [][3]string{{}, {" {}"}, {":"}, {"", " {}"}, {"()"}, {"", "", "()"}, {"() {}"}, {"", "; {}"}, {" _"}} {
		text := before + placeholder + fill[0] + closers[:inner] + fill[1] + closers[inner:outer] + fill[2] + closers[outer:]
		errs := parseErrors(text)
		if len(errs) == 0 {
			best = text
			break
		}
		if at := errs[0].Pos.Offset; at > reach {
			best, reach = text, at
		}
	}
	items, _ := split(best)
	p := &parsed{cellText: &cellText{cell: session.Cell{Source: best}, line: 1}}
	parse := func(header, text, trailer string) *ast.File {
		base := in.fset.Base()
		f, _ := parser.ParseFile(in.fset, fileName, header+text+trailer, parser.SkipObjectResolution)
		p.files = append(p.files, parsedFile{in.fset.File(token.Pos(base)), len(header)})
		return f
	}
	for _, d := range parse(declsHeader, blank(best, items, true), "").Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				p.decls = append(p.decls, d)
			}
			for _, s := range d.Specs {
				if i, ok := s.(*ast.ImportSpec); ok {
					p.imports = append(p.imports, i)
				}
			}
		case *ast.FuncDecl:
			if d.Body == nil {
				d.Body = &ast.BlockStmt{Lbrace: d.End(), Rbrace: d.End()}
			}
			if d.Recv == nil || receiverName(d) != nil {
				p.decls = append(p.decls, d)
			}
		}
	}
	for _, d := range parse(stmtsHeader, blank(best, items, false), "\n}").Decls {
		if f, ok := d.(*ast.FuncDecl); ok && p.body == nil && f.Body != nil {
			p.body, p.stmts = f, f.Body.List
		}
	}
	return p
}

// sketched checks what sketch made, as far as it goes. Packages that the source uses without importing them are known.
func (in *Interp) sketched(p *parsed) *checker {
	auto := map[string]string{}
	for {
		k := in.newChecker(p, auto)
		k.tolerant = true
		func() {
			defer k.revert()
			k.run()
		}()
		if !k.missingImports() {
			return k
		}
	}
}

// pathTo returns the nodes from a declaration or statement of the cell down to the identifier of a name, nil if it is not there.
func (p *parsed) pathTo(name string) []ast.Node {
	var path, found []ast.Node
	visit := func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = slices.Clone(path)
		}
		return true
	}
	for _, d := range p.decls {
		ast.Inspect(d, visit)
	}
	if p.body != nil {
		ast.Inspect(p.body.Body, visit)
	}
	return found
}

// offer lists what may stand where path ends.
func (k *checker) offer(path []ast.Node) []session.Candidate {
	cursor := path[len(path)-1].(*ast.Ident)
	var parent, grand ast.Node
	if len(path) > 1 {
		parent = path[len(path)-2]
	}
	if len(path) > 2 {
		grand = path[len(path)-3]
	}
	switch n := parent.(type) {
	case *ast.SelectorExpr:
		if n.Sel == cursor {
			return k.selectable(n.X)
		}
	case *ast.BranchStmt:
		return labelsAround(path)
	case *ast.KeyValueExpr:
		if lit, ok := grand.(*ast.CompositeLit); ok && n.Key == cursor {
			return append(k.keys(lit), k.names(cursor.Pos())...)
		}
	case *ast.CompositeLit:
		if slices.Contains(n.Elts, ast.Expr(cursor)) {
			return append(k.keys(n), k.names(cursor.Pos())...)
		}
	case *ast.FuncDecl:
		if n.Name == cursor {
			return nil
		}
	}
	return k.names(cursor.Pos())
}

// selectable lists what may follow an operand and a dot.
func (k *checker) selectable(operand ast.Expr) []session.Candidate {
	if id, ok := operand.(*ast.Ident); ok {
		obj := k.c.info.Uses[id]
		if pkg, ok := obj.(*types.PkgName); ok {
			return members(pkg.Imported())
		}
		if obj == nil && k.c.info.Defs[id] == nil {
			var list []session.Candidate
			for _, path := range k.in.pkgs.pathsOf(id.Name) {
				if pkg, err := k.in.pkgs.Import(path); err == nil {
					list = append(list, members(pkg)...)
				}
			}
			return list
		}
	}
	return k.in.membersOf(k.c.info.Types[operand])
}

// members lists what a package exports.
func members(pkg *types.Package) []session.Candidate {
	var list []session.Candidate
	for _, name := range exportedNames(pkg) {
		list = append(list, candidateOf(pkg.Scope().Lookup(name)))
	}
	return list
}

func exportedNames(pkg *types.Package) []string {
	return slices.DeleteFunc(pkg.Scope().Names(), func(n string) bool { return !token.IsExported(n) })
}

// candidateOf describes an object.
func candidateOf(obj types.Object) session.Candidate {
	c := session.Candidate{Name: obj.Name()}
	switch obj := obj.(type) {
	case *types.Var:
		c.Kind, c.Type = "var", typeName(obj.Type())
		if obj.IsField() {
			c.Kind = "field"
		}
	case *types.Const:
		c.Kind, c.Type = "const", typeName(obj.Type())
	case *types.Func:
		c.Kind, c.Type = "func", typeName(obj.Type())
		if obj.Signature().Recv() != nil {
			c.Kind = "method"
		}
	case *types.TypeName:
		c.Kind = "type"
		if _, named := obj.Type().(*types.Named); named {
			c.Type = typeName(obj.Type().Underlying())
		}
	case *types.PkgName:
		c.Kind, c.Type = "package", obj.Imported().Path()
	case *types.Builtin:
		c.Kind = "func"
	default:
		c.Kind = "const"
	}
	return c
}

// names lists what a name may be at pos.
func (k *checker) names(pos token.Pos) []session.Candidate {
	var list []session.Candidate
	for scope := k.innermost(pos); scope != nil; scope = scope.Parent() {
		global := scope == types.Universe || scope.Parent() == types.Universe
		for _, name := range scope.Names() {
			if in, obj := scope.LookupParent(name, pos); in == scope {
				list = append(list, candidateOf(obj))
			} else if global {
				list = append(list, candidateOf(scope.Lookup(name)))
			}
		}
	}
	imports := maps.Clone(k.in.scope.imports)
	maps.Copy(imports, k.c.imports)
	for name, path := range imports {
		list = append(list, session.Candidate{Name: name, Kind: "package", Type: path})
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		list = append(list, session.Candidate{Name: t.String(), Kind: "keyword"})
	}
	for path, name := range k.in.pkgs.importable() {
		list = append(list, session.Candidate{Name: name, Kind: kindImport, Type: path})
	}
	return list
}

// labelsAround lists the labels around the end of path.
func labelsAround(path []ast.Node) []session.Candidate {
	var list []session.Candidate
	for _, n := range path {
		if l, ok := n.(*ast.LabeledStmt); ok {
			list = append(list, session.Candidate{Name: l.Label.Name, Kind: "label"})
		}
	}
	return list
}

// keys lists the fields that a struct literal does not set yet.
func (k *checker) keys(lit *ast.CompositeLit) []session.Candidate {
	t := k.c.info.TypeOf(lit)
	if t == nil {
		return nil
	}
	set := map[string]bool{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				set[id.Name] = true
			}
		}
	}
	return slices.DeleteFunc(k.in.literalFields(t), func(c session.Candidate) bool { return set[c.Name] })
}

// literalFields lists the fields by which a literal of type t may be keyed.
func (in *Interp) literalFields(t types.Type) []session.Candidate {
	if p, ok := t.Underlying().(*types.Pointer); ok { // the elements of a []*T
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var list []session.Candidate
	for f := range s.Fields() {
		if in.reachable(f) {
			list = append(list, candidateOf(f))
		}
	}
	return list
}

// reachable reports whether cells may name a field or method.
func (in *Interp) reachable(obj types.Object) bool {
	return obj.Name() != "_" && (obj.Exported() || obj.Pkg() == in.pkg)
}

// membersOf lists the fields and methods of a value, or the methods of a type.
func (in *Interp) membersOf(tv types.TypeAndValue) []session.Candidate {
	if tv.Type == nil {
		return nil
	}
	t := tv.Type
	if !tv.IsType() {
		t = addressableType(t)
	}
	var list []session.Candidate
	for m := range types.NewMethodSet(t).Methods() {
		if in.reachable(m.Obj()) {
			list = append(list, candidateOf(m.Obj()))
		}
	}
	if tv.IsType() {
		return list
	}
	return append(list, in.fields(tv.Type, 0)...)
}

// addressableType is the pointer to t unless t is one or an interface: a variable also has the methods of its pointer.
func addressableType(t types.Type) types.Type {
	if _, ok := t.Underlying().(*types.Pointer); ok || types.IsInterface(t) {
		return t
	}
	return types.NewPointer(t)
}

// fields lists the fields of a struct or of what a pointer to one points to, promoted ones as well.
func (in *Interp) fields(t types.Type, depth int) []session.Candidate {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth > 4 {
		return nil
	}
	var list []session.Candidate
	for f := range s.Fields() {
		if in.reachable(f) {
			list = append(list, candidateOf(f))
		}
	}
	for f := range s.Fields() {
		if f.Embedded() {
			list = append(list, in.fields(f.Type(), depth+1)...)
		}
	}
	return list
}
