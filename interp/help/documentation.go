package help

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/docs"
	"github.com/symmrepl/symmrepl/kernels/reference"
	"github.com/symmrepl/symmrepl/session"
)

// Documentation returns the documentation of arg: a package, a member of a package, a name of the
// session, a field or a method. If there is none, it looks for the name elsewhere: in all packages
// that cells can import, and in the headers of kernels. snippet is the text of a kernel up to arg,
// or ""; a name in a kernel is one of the headers or of the kernel.
func (h *Guide) Documentation(arg, snippet string) (string, error) {
	arg = strings.Trim(strings.TrimSuffix(strings.TrimSpace(arg), "()"), "\"")
	var err error = &session.Error{Kind: session.KindMisuse, Peer: -1, Msg: "nothing in the headers of kernels is called " + arg}
	if snippet != "" {
		if text, ok := documentationInSnippet(snippet, arg); ok {
			return text, nil
		}
		return "", err
	}
	if text, ok := deviceList(arg); ok {
		return text, nil
	}
	if !strings.Contains(arg, "::") {
		var text string
		if text, err = h.documentation(arg); err == nil {
			return text, nil
		}
	}
	if text, ok := h.documentationElsewhere(arg); ok {
		return text, nil
	}
	return "", deviceHint(err, arg)
}

// documentationElsewhere returns the documentation of a name that cells write with its package in
// front, or that only kernels use.
func (h *Guide) documentationElsewhere(arg string) (string, bool) {
	if token.IsIdentifier(arg) {
		for _, path := range slices.Sorted(maps.Values(h.checker.Imports())) {
			if decl, text, ok := docs.Lookup(path, arg); ok {
				return entry(decl, text) + docMethods(path, arg), true
			}
		}
	}
	if decl, text, ok := reference.Lookup(strings.ReplaceAll(arg, ".", "::")); ok {
		return entry(decl, text), true
	}
	for _, path := range slices.Sorted(maps.Values(h.checker.Imports())) {
		if text, ok := folded(path, arg); ok {
			return text, true
		}
	}
	return foreignDoc(arg)
}

// folded returns the documentation of a name of a package that is spelled in another convention:
// one_shot_all_reduce.
func folded(path, name string) (string, bool) {
	for _, n := range docs.Names(path) {
		if spelling.Fold(n) == spelling.Fold(name) {
			decl, text, _ := docs.Lookup(path, n)
			return entry(decl, text) + docMethods(path, n), true
		}
	}
	return "", false
}

// deviceHint adds to an error about an undefined name a hint at similar names in the headers of
// kernels, unless the error has a hint.
func deviceHint(err error, name string) error {
	var e *session.Error
	if !errors.As(err, &e) || e.Hint != "" {
		return err
	}
	name = strings.TrimPrefix(name, "symm::")
	var names []string
	for _, n := range reference.Names() {
		names = append(names, strings.TrimPrefix(n, "symm::"))
	}
	var found []string
	for _, n := range spelling.Similar(name, names) {
		if slices.Contains(reference.Names(), "symm::"+n) {
			n = "symm::" + n
		}
		found = append(found, n)
	}
	if len(found) == 0 {
		return err
	}
	with := *e
	with.Hint = didYouMean(found)
	return &with
}

func (h *Guide) documentation(arg string) (string, error) {
	if h.checker.Objects()[arg] == nil {
		if decl, text, ok := builtinDoc(arg); ok {
			return entry(decl, text), nil
		}
		if text, ok := h.packageDoc(arg); ok {
			return text, nil
		}
	}
	name, member, _ := strings.Cut(arg, ".")
	if h.checker.Objects()[name] == nil && member != "" {
		for _, path := range h.pathsFor(name) {
			if decl, text, ok := docs.Lookup(path, member); ok {
				return entry(decl, text) + docMethods(path, member), nil
			}
		}
	}
	if obj := h.checker.Objects()[name]; obj != nil && member == "" {
		return h.ownDoc(arg, obj)
	}
	if member != "" && h.declared[arg] != "" {
		return h.declared[arg], nil
	}
	return h.selectedDoc(arg)
}

// entry returns the text that is shown as documentation.
func entry(decl, text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return decl
	}
	return decl + "\n\n" + text
}

// pathsFor lists the import paths of a package name: the path of the imported package, or of all
// packages with that name.
func (h *Guide) pathsFor(name string) []string {
	if path, ok := h.checker.Imports()[name]; ok {
		return []string{path}
	}
	return h.checker.Packages().PathsOf(name)
}

// packageDoc returns the documentation of a package, given its name or import path. It begins with
// the package clause and an import declaration, with the name that cells use.
func (h *Guide) packageDoc(name string) (string, bool) {
	for _, path := range append(h.pathsFor(name), name) {
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
		own := strings.TrimPrefix(decl, "package ")
		called := own
		if h.checker.Imports()[name] == path {
			called = name
		}
		return entry(packageHead(called, path, own), text) + "\n\n" + wrap(exported), true
	}
	return "", false
}

// packageHead returns the package clause and an import declaration, with the name that cells use.
func packageHead(called, path, own string) string {
	if called == own {
		return fmt.Sprintf("package %s // import %q", own, path)
	}
	return fmt.Sprintf("package %s // import %[1]s %q", called, path)
}

// wrap returns words as lines of limited length.
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

// ownDoc returns the documentation of an object that a cell defined.
func (h *Guide) ownDoc(name string, obj types.Object) (string, error) {
	v, ok := obj.(*types.Var)
	if !ok {
		text := h.declared[name]
		if t, ok := obj.(*types.TypeName); ok {
			text += methodList(t.Type())
		}
		return text, nil
	}
	text := "var " + name + " " + check.TypeName(v.Type())
	if about, err := h.typeDoc(v.Type()); err == nil {
		text += "\n\n" + about
	}
	return text, nil
}

// typeDoc returns the documentation of a named type, or of the type that a pointer type points to.
func (h *Guide) typeDoc(t types.Type) (string, error) {
	named := check.NamedOf(t)
	if named == nil || named.Obj().Pkg() == nil {
		return "", fmt.Errorf("there is no documentation of %s", strings.TrimPrefix(check.TypeName(t), "*"))
	}
	return h.docOf(named.Obj().Pkg().Path(), named.Obj().Name())
}

// docOf returns the documentation of a member of a package, or of the package of cells.
func (h *Guide) docOf(path, name string) (string, error) {
	if path == check.PackageName && h.declared[name] != "" {
		return h.declared[name], nil
	}
	if decl, text, ok := docs.Lookup(path, name); ok {
		return entry(decl, text) + docMethods(path, name), nil
	}
	return "", fmt.Errorf("there is no documentation of %s", name)
}

// docMethods lists the exported methods of a type of a package, one per line after an empty line,
// each with the first sentence of its documentation. It returns "" if there are none.
func docMethods(path, typ string) string {
	var b strings.Builder
	for _, name := range docs.Names(path) {
		if !strings.HasPrefix(name, typ+".") {
			continue
		}
		if decl, text, _ := docs.Lookup(path, name); strings.HasPrefix(decl, "func (") {
			b.WriteString("\n" + decl)
			if about := reference.Summary(text); about != "" {
				b.WriteString("  // " + about)
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// selectedDoc returns the documentation of an expression: the documentation of a field or method,
// and for other expressions of the type.
func (h *Guide) selectedDoc(expr string) (string, error) {
	c, err := h.checkExpr(expr)
	if err != nil {
		return "", err
	}
	defer h.checker.Forget(c.Text)
	if c.Value == nil {
		return "", errNoExpression
	}
	sel, ok := ast.Unparen(c.Value).(*ast.SelectorExpr)
	if !ok {
		return h.typeDoc(c.Info.TypeOf(c.Value))
	}
	selection := c.Info.Selections[sel]
	if selection == nil {
		return h.typeDoc(c.Info.TypeOf(c.Value))
	}
	obj := selection.Obj()
	if recv := holder(selection); recv != nil && recv.Obj().Pkg() != nil {
		if text, err := h.docOf(recv.Obj().Pkg().Path(), recv.Obj().Name()+"."+obj.Name()); err == nil {
			return text, nil
		}
	}
	head := "field "
	if _, ok := obj.(*types.Func); ok {
		head = "method "
	}
	return head + obj.Name() + " " + check.TypeName(obj.Type()), nil
}

// holder returns the type that declares the selected field or method, which may be the type of an
// embedded field.
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
	return check.NamedOf(t)
}

// methodList lists the methods of a type of the session, one per line.
func methodList(t types.Type) string {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	var b strings.Builder
	for m := range named.Methods() {
		sig := m.Signature()
		fmt.Fprintf(&b, "\nfunc (%s) %s%s", check.TypeName(sig.Recv().Type()), m.Name(), strings.TrimPrefix(check.TypeName(sig), "func"))
	}
	return b.String()
}
