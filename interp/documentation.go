package interp

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/docs"
	"github.com/symmrepl/symmrepl/session"
)

// declarations gives the text of what a cell declares, functions without their bodies, with the comments above, by "name" or
// "Type.Method".
func (c *checked) declarations() map[string]string {
	all := map[string]string{}
	for _, d := range c.decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if base := receiverName(d); base != nil {
				name = base.Name + "." + name
			}
			all[name] = c.declaration(d.Pos(), d.Type.End())
		case *ast.GenDecl:
			for _, s := range d.Specs {
				from, head := s.Pos(), d.Tok.String()+" "
				if !d.Lparen.IsValid() {
					from, head = d.Pos(), ""
				}
				for _, id := range specNames(s) {
					all[id.Name] = head + c.declaration(from, s.End())
				}
			}
		}
	}
	return all
}

// declaration returns a piece of the cell's text and below it the line comments that stand right above it.
func (c *cellText) declaration(from, to token.Pos) string {
	start, end := c.offset(from), c.offset(to)
	if start < 0 || end < start || end > len(c.cell.Source) {
		return ""
	}
	text := c.cell.Source[start:end]
	above := strings.Split(c.cell.Source[:start], "\n")
	if strings.TrimSpace(above[len(above)-1]) != "" { // something else on the same line
		return text
	}
	var comment []string
	for _, line := range slices.Backward(above[:len(above)-1]) {
		said, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !ok {
			break
		}
		comment = append(comment, strings.TrimPrefix(said, " "))
	}
	slices.Reverse(comment)
	return strings.TrimSpace(text + "\n\n" + strings.Join(comment, "\n"))
}

// offset returns where in the cell's text pos is, -1 when it is elsewhere.
func (c *cellText) offset(pos token.Pos) int {
	for _, f := range c.files {
		if f.file != nil && int(pos) >= f.file.Base() && int(pos) <= f.file.Base()+f.file.Size() {
			return f.file.Offset(pos) - f.header
		}
	}
	return -1
}

// documentation answers what arg is: a package, something of a package, a name of the session, a field or method.
func (in *Interp) documentation(arg string) (string, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	arg = strings.Trim(strings.TrimSuffix(strings.TrimSpace(arg), "()"), "\"")
	if in.scope.objects[arg] == nil {
		if decl, text, ok := builtinDoc(arg); ok {
			return entry(decl, text), nil
		}
		if text, ok := in.packageDoc(arg); ok {
			return text, nil
		}
	}
	name, member, _ := strings.Cut(arg, ".")
	if in.scope.objects[name] == nil && member != "" {
		for _, path := range in.pathsFor(name) {
			if decl, text, ok := docs.Lookup(path, member); ok {
				return entry(decl, text), nil
			}
		}
	}
	if obj := in.scope.objects[name]; obj != nil && member == "" {
		return in.ownDoc(arg, obj)
	}
	if member != "" && in.docs[arg] != "" {
		return in.docs[arg], nil
	}
	return in.selectedDoc(arg)
}

// entry is how documentation is shown.
func entry(decl, text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return decl
	}
	return decl + "\n\n" + text
}

// pathsFor lists the packages that a name may stand for: the imported one, or all of that name.
func (in *Interp) pathsFor(name string) []string {
	if path, ok := in.scope.imports[name]; ok {
		return []string{path}
	}
	return in.pkgs.pathsOf(name)
}

// packageDoc is about a package, by its name or its import path.
func (in *Interp) packageDoc(name string) (string, bool) {
	for _, path := range append(in.pathsFor(name), name) {
		decl, text, ok := docs.Lookup(path, "")
		if !ok {
			continue
		}
		var exported []string
		for _, n := range docs.Names(path) {
			if !strings.Contains(n, ".") {
				exported = append(exported, n)
			}
		}
		return entry(fmt.Sprintf("%s // import %q", decl, path), text) + "\n\n" + wrap(exported), true
	}
	return "", false
}

// wrap writes words in lines.
func wrap(words []string) string {
	var b strings.Builder
	width := 0
	for _, w := range words {
		switch {
		case width == 0:
		case width+1+len(w) > 100:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(w)
		width += len(w)
	}
	return b.String()
}

// ownDoc is about what a cell defined.
func (in *Interp) ownDoc(name string, obj types.Object) (string, error) {
	v, ok := obj.(*types.Var)
	if !ok {
		text := in.docs[name]
		if t, ok := obj.(*types.TypeName); ok {
			text += methodList(t.Type())
		}
		return text, nil
	}
	text := "var " + name + " " + typeName(v.Type())
	if about, err := in.typeDoc(v.Type()); err == nil {
		text += "\n\n" + about
	}
	return text, nil
}

// typeDoc is about a named type, or what a pointer to one points to.
func (in *Interp) typeDoc(t types.Type) (string, error) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return "", fmt.Errorf("there is no documentation of %s", typeName(t))
	}
	return in.docOf(named.Obj().Pkg().Path(), named.Obj().Name())
}

// docOf is about something of a package, the cells' own included.
func (in *Interp) docOf(path, name string) (string, error) {
	if path == cellPackage && in.docs[name] != "" {
		return in.docs[name], nil
	}
	if decl, text, ok := docs.Lookup(path, name); ok {
		return entry(decl, text), nil
	}
	return "", fmt.Errorf("there is no documentation of %s", name)
}

// selectedDoc is about an expression: of a field or method its own, of anything else that of its type.
func (in *Interp) selectedDoc(expr string) (string, error) {
	c, err := in.checkExpr(expr)
	if err != nil {
		return "", err
	}
	defer in.forgetFiles(c.parsed)
	if c.value == nil {
		return "", errNoExpression
	}
	sel, ok := ast.Unparen(c.value).(*ast.SelectorExpr)
	if !ok {
		return in.typeDoc(c.info.TypeOf(c.value))
	}
	selection := c.info.Selections[sel]
	if selection == nil {
		return in.typeDoc(c.info.TypeOf(c.value))
	}
	obj := selection.Obj()
	if recv := holder(selection); recv != nil && recv.Obj().Pkg() != nil {
		if text, err := in.docOf(recv.Obj().Pkg().Path(), recv.Obj().Name()+"."+obj.Name()); err == nil {
			return text, nil
		}
	}
	head := "field "
	if _, ok := obj.(*types.Func); ok {
		head = "method "
	}
	return head + obj.Name() + " " + typeName(obj.Type()), nil
}

// holder is the type that declares what is selected, which embedded fields may lead to.
func holder(s *types.Selection) *types.Named {
	t := s.Recv()
	if f, ok := s.Obj().(*types.Func); ok && f.Signature().Recv() != nil {
		t = f.Signature().Recv().Type()
	} else {
		for _, i := range s.Index()[:len(s.Index())-1] {
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			t = t.Underlying().(*types.Struct).Field(i).Type()
		}
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

// methodList lists the methods of a type of the session, each on a line.
func methodList(t types.Type) string {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	var b strings.Builder
	for m := range named.Methods() {
		sig := m.Signature()
		fmt.Fprintf(&b, "\nfunc (%s) %s%s", typeName(sig.Recv().Type()), m.Name(), strings.TrimPrefix(typeName(sig), "func"))
	}
	return b.String()
}

var errNoExpression = errors.New("that is no expression with a value")

// checkExpr checks the text of an expression as the last one of a cell. Packages that it uses without importing them are known.
func (in *Interp) checkExpr(expr string) (*checked, error) {
	p, err := in.parse(session.Cell{Name: "expression", Source: expr})
	if err != nil {
		return nil, err
	}
	c, err := in.check(p)
	if err != nil {
		in.forgetFiles(p)
		return nil, err
	}
	return c, nil
}

// forgetFiles drops the positions of what is not kept.
func (in *Interp) forgetFiles(p *parsed) {
	for _, f := range p.files {
		if f.file != nil {
			in.fset.RemoveFile(f.file)
		}
	}
}

// builtinDoc is about what Go itself declares.
func builtinDoc(name string) (decl, text string, ok bool) {
	line, ok := map[string]string{
		"append":  "func append(slice []T, elems ...T) []T|the slice with elements added at its end, in a larger array if they do not fit",
		"cap":     "func cap(v T) int|how long a slice or the buffer of a channel can be without a new array",
		"clear":   "func clear(t T)|removes all of a map, or sets the elements of a slice to zero",
		"close":   "func close(c chan<- T)|says that no more is sent; receivers get what is left, then zero values and false",
		"complex": "func complex(r, i float64) complex128|a complex number of its two parts",
		"copy":    "func copy(dst, src []T) int|copies the elements that fit and returns how many; src may be a string for a []byte",
		"delete":  "func delete(m map[K]V, key K)|removes an entry of a map, if there is one",
		"imag":    "func imag(c complex128) float64|the imaginary part",
		"len":     "func len(v T) int|elements of a slice, array, map or channel's buffer; bytes of a string",
		"make":    "func make(t Type, size ...int) Type|a new slice, map or channel; the sizes are length and capacity",
		"max":     "func max(x T, y ...T) T|the largest of ordered values",
		"min":     "func min(x T, y ...T) T|the smallest of ordered values",
		"new":     "func new(v) *T|a pointer to a new variable: of a type, zero; of an expression, its value",
		"panic":   "func panic(v any)|ends the functions that run, deferred ones first, until one recovers",
		"print":   "func print(args ...T)|writes to standard error; fmt.Print is what programs use",
		"println": "func println(args ...T)|writes to standard error; fmt.Println is what programs use",
		"real":    "func real(c complex128) float64|the real part",
		"recover": "func recover() any|in a deferred function: stops a panic and returns its value",
		"any":     "type any = interface{}|the interface that every type implements",
		"error":   "type error interface{ Error() string }|what reports that something went wrong; nil says that nothing did",
	}[name]
	decl, text, _ = strings.Cut(line, "|")
	return decl, text, ok
}
