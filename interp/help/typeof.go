package help

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// TypeOf returns the type of an expression, or a description of the object of a name.
func (h *Guide) TypeOf(expr string) (string, error) {
	expr = strings.TrimSpace(expr)
	if path, ok := h.checker.Imports()[expr]; ok && h.checker.Objects()[expr] == nil {
		return packageHead(expr, path, h.checker.Packages().Package(path).Name()), nil
	}
	tv, err := h.evalType(expr)
	if err != nil {
		return "", err
	}
	switch {
	case tv.IsVoid():
		return "no value", nil
	case tv.IsBuiltin():
		decl, _, _ := builtinDoc(expr)
		return decl, nil
	case tv.IsType():
		if _, named := tv.Type.(*types.Named); named {
			return "type " + check.TypeName(tv.Type) + " " + check.TypeName(tv.Type.Underlying()) + methodList(tv.Type), nil
		}
		return "type " + check.TypeName(tv.Type), nil
	case tv.Value != nil:
		return fmt.Sprintf("%s constant %s", check.TypeName(tv.Type), tv.Value), nil
	}
	return check.TypeName(tv.Type), nil
}

// evalType checks an expression in the session's scope.
func (h *Guide) evalType(expr string) (types.TypeAndValue, error) {
	// without type arguments it is not an expression
	if sig := h.genericFunction(expr); sig != nil {
		return types.TypeAndValue{Type: sig}, nil
	}
	tv, err := h.checker.Eval(expr, nil)
	if err == nil {
		return tv, nil
	}
	// Checked as a cell, it may use packages without importing them, and its error has a hint.
	c, err := h.checkExpr(expr)
	if err != nil {
		return types.TypeAndValue{}, err
	}
	h.checker.Forget(c.Text)
	if tv, err = h.checker.Eval(expr, c.Auto); err != nil {
		err = errNoExpression
	}
	return tv, err
}

// genericFunction returns the signature of a generic function by its name, nil when that names
// something else.
func (h *Guide) genericFunction(name string) *types.Signature {
	obj := h.checker.Objects()[name]
	if pkg, member, ok := strings.Cut(name, "."); ok && h.checker.Objects()[pkg] == nil {
		for _, path := range h.pathsFor(pkg) {
			if h.checker.Packages().Has(path, member) {
				p, _ := h.checker.Packages().Import(path)
				obj = p.Scope().Lookup(member)
			}
		}
	}
	if fn, ok := obj.(*types.Func); ok && fn.Signature().TypeParams().Len() > 0 {
		return fn.Signature()
	}
	return nil
}
