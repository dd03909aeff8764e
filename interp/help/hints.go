package help

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/docs"
	"github.com/symmrepl/symmrepl/session"
)

// The messages of go/types and go/parser for which there are hints.
var (
	unknownPackage  = regexp.MustCompile(`^package (\S+) is not available in cells$`)
	undefinedMember = regexp.MustCompile(`^undefined: (\w+)\.(\w+)$`)
	notExported     = regexp.MustCompile(`^name (\w+) not exported by package (\w+)$`)
	unknownMember   = regexp.MustCompile(`\.(\w+) undefined \(type .* has no (?:field or method|method) \w+\)$`)
	unknownField    = regexp.MustCompile(`^unknown field (\w+) in struct literal of type [^,]*$`)
	severalValues   = regexp.MustCompile(`^multiple-value (.+) \(value of type \(.*, .*\)\) in single-value context$`)
	mismatched      = regexp.MustCompile(`\(mismatched types ([\w.\[\]*]+) and ([\w.\[\]*]+)\)$`)
	truncated       = regexp.MustCompile(`\(untyped float constant.*\) truncated to (\w+)$`)
	cannotUse       = regexp.MustCompile(`^cannot use (.+) \(.*\btype ([\w.\[\]*]+)\) as ([\w.\[\]*]+) value`)
	wanted          = regexp.MustCompile(`^cannot use .+ as (\*?\w+\.\w+) value`)
)

// suggester suggests corrections or completions at a place of a cell.
type suggester struct {
	checker *check.Checker
	attempt *check.Attempt
	c       *check.Cell
}

func newSuggester(a *check.Attempt) *suggester { return &suggester{a.Checker, a, a.Cell} }

// Explain returns the error of a cell that does not parse or check, with a hint.
func Explain(f *check.Failure) *session.Error {
	if f.Attempt == nil {
		f.Err.Hint = syntaxHint(f.Err, f.Missing)
		return f.Err
	}
	k := newSuggester(f.Attempt)
	f.Err.Hint = k.checker.AsCalled(k.hint(f.Msg, f.At), f.Attempt.Imports())
	return f.Err
}

// hint returns a hint for an error of the check.
func (k *suggester) hint(msg string, pos token.Pos) string {
	if m := undefinedMember.FindStringSubmatch(msg); m != nil {
		return cmp.Or(k.foreignMember(m[1], m[2]), didYouMean(k.membersLike(m[1], m[2])), k.methodHint(m[1], m[2]))
	}
	if m := notExported.FindStringSubmatch(msg); m != nil {
		return cmp.Or(k.foreignMember(m[2], m[1]), didYouMean(k.membersLike(m[2], m[1])))
	}
	if m := unknownPackage.FindStringSubmatch(msg); m != nil {
		return didYouMean(k.packagesLike(m[1]))
	}
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		return k.undefinedHint(name, pos)
	}
	if m := unknownMember.FindStringSubmatch(msg); m != nil {
		return k.memberHint(m[1], pos)
	}
	if m := unknownField.FindStringSubmatch(msg); m != nil {
		return k.fieldHint(m[1], pos)
	}
	switch {
	case strings.HasPrefix(msg, "not enough arguments in call"), strings.HasPrefix(msg, "too many arguments in call"),
		strings.HasPrefix(msg, "assignment mismatch"):
		return k.signatureHint(msg, pos)
	case msg == "missing return":
		return "every way through the function has to end in a return, a panic or a loop without end"
	case msg == "missing function body":
		return "the opening brace belongs on the line of func"
	case strings.HasPrefix(msg, "non-boolean condition"):
		return "a condition is a comparison, such as x != 0"
	}
	if hint := cmp.Or(k.powerHint(pos), k.tensorHint(pos), k.dtypeHint(pos), k.spreadHint(msg, pos), k.groupNameHint(msg), conversionHint(msg)); hint != "" {
		return hint
	}
	if m := wanted.FindStringSubmatch(msg); m != nil {
		return k.makerHint(m[1])
	}
	return ""
}

// didYouMean asks whether one of names was meant. It returns "" if names is empty.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(names, " or ") + "?"
}

// undefinedHint returns a hint for an undefined name.
func (k *suggester) undefinedHint(name string, pos token.Pos) string {
	if hint := cmp.Or(k.dtypeHint(pos), k.moduleHint(name, pos)); hint != "" {
		return hint
	}
	if name == "None" {
		return didYouMean([]string{"nil"})
	}
	names := spelling.Similar(name, k.visible(pos))
	s, assigned := k.c.Find(pos, isAssigned).(*ast.AssignStmt)
	if sel, ok := k.c.Find(pos, check.IsOperand).(*ast.SelectorExpr); ok {
		if paths := k.checker.Packages().PathsOf(name); len(paths) > 0 {
			return k.packageHint(paths, name, sel.Sel.Name)
		}
		if hint := foreignHint(sel.Sel.Name); names == nil && isForeign(sel.Sel.Name) && hint != "" {
			return hint
		}
	} else if !assigned {
		elsewhere := k.elsewhere(name)
		if hint := foreignHint(name); hint != "" && elsewhere == nil && (names == nil || !token.IsExported(name) && isForeign(name)) {
			return hint
		}
		names = append(elsewhere, names...)
	}
	hint := didYouMean(names[:min(len(names), spelling.Most)])
	if hint == "" && k.textWanted(pos) {
		return fmt.Sprintf("did you mean %q? Text is written in quotes", name)
	}
	if assigned && s.Tok == token.ASSIGN {
		declare := name + " := … declares a variable"
		if hint == "" {
			return declare
		}
		return hint + " " + declare
	}
	return hint
}

// textWanted reports whether the code at pos is an argument that has to be a string.
func (k *suggester) textWanted(pos token.Pos) bool {
	call, ok := k.c.Find(pos, isCallAt).(*ast.CallExpr)
	if !ok {
		return false
	}
	sig, ok := k.c.Info.TypeOf(call.Fun).(*types.Signature)
	i := slices.IndexFunc(call.Args, func(arg ast.Expr) bool { return arg.Pos() == pos })
	if !ok || i < 0 || i >= sig.Params().Len() {
		return false
	}
	if _, named := call.Args[i].(*ast.Ident); !named {
		return false
	}
	basic, ok := sig.Params().At(i).Type().Underlying().(*types.Basic)
	return ok && basic.Kind() == types.String
}

// packageHint returns a hint for a package that is not imported and lacks the member, or shares its
// name with other packages.
func (k *suggester) packageHint(paths []string, name, member string) string {
	var having, like []string
	for _, path := range paths {
		if k.checker.Packages().Has(path, member) {
			having = append(having, fmt.Sprintf("import %q", path))
		}
		if pkg, err := k.checker.Packages().Import(path); err == nil {
			like = append(like, spelling.Similar(member, exportedNames(pkg))...)
		}
	}
	if len(having) > 0 {
		return "several packages are called " + name + ": write " + strings.Join(having, " or ")
	}
	return didYouMean(prefixed(name, unique(like)))
}

// packagesLike lists import paths, in quotes, of packages named path, or else of packages with
// similar names.
func (k *suggester) packagesLike(path string) []string {
	var called, all []string
	for p := range k.checker.Packages().Importable() {
		all = append(all, p)
		if strings.HasSuffix(p, "/"+path) {
			called = append(called, p)
		}
	}
	if called == nil {
		slices.Sort(all)
		called = spelling.Similar(path, all)
	}
	slices.Sort(called)
	var quoted []string
	for _, p := range called[:min(len(called), spelling.Most)] {
		quoted = append(quoted, strconv.Quote(p))
	}
	return quoted
}

// isAssigned reports whether n is an assignment to the name at pos.
func isAssigned(n ast.Node, pos token.Pos) bool {
	s, ok := n.(*ast.AssignStmt)
	return ok && slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && id.Pos() == pos
	})
}

// visible lists the names that are visible at pos.
func (k *suggester) visible(pos token.Pos) []string {
	names := types.Universe.Names()
	for scope := k.attempt.Innermost(pos); scope != nil && scope != types.Universe; scope = scope.Parent() {
		for _, name := range scope.Names() {
			if _, obj := scope.LookupParent(name, pos); obj != nil {
				names = append(names, name)
			}
		}
	}
	for name := range k.checker.Imports() {
		names = append(names, name)
	}
	for name := range k.c.Imports {
		names = append(names, name)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "_" || strings.ContainsAny(n, "#.") })
}

// elsewhere lists members of imported packages whose names equal name except for case and
// underscores, as cells write them.
func (k *suggester) elsewhere(name string) []string {
	var found []string
	for as, path := range k.checker.Imports() {
		pkg, err := k.checker.Packages().Import(path)
		if err != nil {
			continue
		}
		for _, member := range exportedNames(pkg) {
			if spelling.Fold(member) == spelling.Fold(name) {
				found = append(found, as+"."+member)
			}
		}
	}
	slices.Sort(found)
	return found
}

// membersLike lists members of the named package that are similar to member.
func (k *suggester) membersLike(name, member string) []string {
	path := k.checker.Imports()[name]
	if own := k.c.Imports[name]; own != "" {
		path = own
	}
	pkg, err := k.checker.Packages().Import(path)
	if err != nil {
		return nil
	}
	return prefixed(name, spelling.Similar(member, exportedNames(pkg)))
}

// memberHint returns a hint for a field or method that the operand of a selector does not have.
func (k *suggester) memberHint(name string, pos token.Pos) string {
	sel, ok := k.c.Find(pos, isSelected).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	tv := k.c.Info.Types[sel.X]
	if tv.Type == nil {
		return ""
	}
	var names []string
	for _, m := range membersOf(k.checker.Package(), tv) {
		names = append(names, m.Name)
	}
	names = spelling.Similar(name, names)
	id, ok := sel.X.(*ast.Ident)
	if ok {
		names = prefixed(id.Name, names)
	}
	hint := didYouMean(names)
	if hint == "" && ok && !tv.IsType() {
		hint = k.functionHint(id.Name, tv.Type, name)
	}
	if of := packageOf(tv.Type); hint == "" && of != nil && strings.HasPrefix(of.Path(), check.SymmemPath) {
		hint = foreignHint(name)
	}
	return hint
}

// isSelected reports whether n is a selector of the name at pos.
func isSelected(n ast.Node, pos token.Pos) bool {
	sel, ok := n.(*ast.SelectorExpr)
	return ok && sel.Sel.Pos() == pos
}

// fieldHint returns a hint for a key of a struct literal.
func (k *suggester) fieldHint(name string, pos token.Pos) string {
	lit, ok := k.c.Find(pos, isLiteralAround).(*ast.CompositeLit)
	if !ok {
		return ""
	}
	t := k.c.Info.TypeOf(lit)
	if t == nil && lit.Type != nil {
		t = k.c.Info.TypeOf(lit.Type)
	}
	if t == nil {
		return ""
	}
	var names []string
	for _, f := range literalFields(k.checker.Package(), t) {
		names = append(names, f.Name)
	}
	return didYouMean(spelling.Similar(name, names))
}

func isLiteralAround(n ast.Node, pos token.Pos) bool {
	lit, ok := n.(*ast.CompositeLit)
	return ok && lit.Lbrace < pos && pos < lit.Rbrace
}

// signatureHint shows the signature of a function that is called with too many or too few arguments
// or results.
func (k *suggester) signatureHint(msg string, pos token.Pos) string {
	call, ok := k.c.Find(pos, isCallAt).(*ast.CallExpr)
	if !ok {
		return ""
	}
	sig, ok := k.c.Info.TypeOf(call.Fun).(*types.Signature)
	if !ok || !strings.Contains(msg, types.ExprString(call.Fun)) {
		return ""
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok { // the documentation has the names of parameters
		if fn, ok := k.c.Info.Uses[sel.Sel].(*types.Func); ok && fn.Pkg() != nil {
			if decl, _, ok := docs.Lookup(fn.Pkg().Path(), documented(fn)); ok {
				return decl
			}
		}
	}
	return types.ExprString(call.Fun) + " is " + check.TypeName(sig)
}

// spreadHint returns a hint for a slice passed to a function with a variadic parameter of its
// element type.
func (k *suggester) spreadHint(msg string, pos token.Pos) string {
	m := cannotUse.FindStringSubmatch(msg)
	if m == nil || m[2] != "[]"+m[3] {
		return ""
	}
	call, ok := k.c.Find(pos, isCallAt).(*ast.CallExpr)
	if !ok {
		return ""
	}
	sig, ok := k.c.Info.TypeOf(call.Fun).(*types.Signature)
	if !ok || !sig.Variadic() || len(call.Args) != sig.Params().Len() || call.Args[len(call.Args)-1].Pos() != pos {
		return ""
	}
	return types.ExprString(call.Args[len(call.Args)-1]) + "... gives its elements"
}

// documented returns the name of a function or method in package docs: "Builder.Len".
func documented(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	if named := check.NamedOf(recv.Type()); named != nil {
		return named.Obj().Name() + "." + fn.Name()
	}
	return ""
}

// isCallAt reports whether n is a call that begins at pos or has an argument at pos.
func isCallAt(n ast.Node, pos token.Pos) bool {
	call, ok := n.(*ast.CallExpr)
	return ok && (call.Pos() == pos || call.Lparen < pos && pos <= call.Rparen)
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func prefixed(operand string, names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, operand+"."+n)
	}
	return out
}
