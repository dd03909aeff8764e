package help

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// Tensors are pointers to device memory, and Go has no operators for them. Users of other libraries
// write t[0:4], a + b and a == b.

// tensorHint returns a hint for an operation on a tensor at pos that Go does not have, or "" if
// there is no tensor at pos.
func (k *suggester) tensorHint(pos token.Pos) string {
	if hint := k.partHint(pos); hint != "" {
		return hint
	}
	switch n := k.c.Find(pos, k.isOperationAt).(type) {
	case *ast.BinaryExpr:
		return k.calculates(n.Op, n.X, n.Y) + " calculates it on the device"
	case *ast.UnaryExpr:
		if n.Op == token.SUB {
			return types.ExprString(n.X) + ".Neg() calculates it on the device"
		}
		return mapped(n.Op.String()+"x0", n.X)
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN {
			return fmt.Sprintf("%s.Fill(%s) sets all elements", types.ExprString(n.Lhs[0]), types.ExprString(n.Rhs[0]))
		}
		return k.calculates(n.Tok+(token.ADD-token.ADD_ASSIGN), n.Lhs[0], n.Rhs[0],
			"symm.Into("+types.ExprString(n.Lhs[0])+")") + " calculates it in place"
	case *ast.RangeStmt:
		return fmt.Sprintf("%s.Float32s() is a copy of the elements, %[1]s.Ints() one of integers", types.ExprString(n.X))
	case *ast.CallExpr:
		return k.tensorArgumentHint(n, pos)
	}
	return ""
}

// operations are the methods of tensors for operators; symm has functions of the names of the first
// four, whose first operand may be a number.
var operations = map[token.Token]string{
	token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div", token.REM: "Mod",
	token.EQL: "Eq", token.NEQ: "Ne", token.LSS: "Lt", token.LEQ: "Le", token.GTR: "Gt", token.GEQ: "Ge",
}

// calculates returns the call for an operator of which one operand is a tensor.
func (k *suggester) calculates(op token.Token, x, y ast.Expr, options ...string) string {
	a, b := types.ExprString(x), types.ExprString(y)
	method := operations[op]
	switch {
	case k.isTensor(x) && method != "":
		return fmt.Sprintf("%s.%s(%s)", a, method, strings.Join(append([]string{b}, options...), ", "))
	case op <= token.QUO && method != "":
		return fmt.Sprintf("symm.%s(%s, %s)", method, a, b)
	}
	return fmt.Sprintf("symm.Map(%q, %s)", "x0 "+op.String()+" x1", strings.Join(append([]string{a, b}, options...), ", "))
}

// mapped returns the hint for a formula of one tensor.
func mapped(formula string, t ast.Expr) string {
	return fmt.Sprintf("symm.Map(%q, %s) calculates it on the device", strings.ReplaceAll(formula, "^", "~"), types.ExprString(t))
}

// elementsEqual returns the hint for a comparison of two tensors' elements.
func elementsEqual(a ast.Expr, b string) string {
	return fmt.Sprintf("%s.Equal(%s) compares elements", types.ExprString(a), b)
}

// functionOf returns the hint for a function of floats, or max or min, of tensors.
func (k *suggester) functionOf(name string, args []ast.Expr) string {
	x := types.ExprString(args[0])
	switch name {
	case "max", "min":
		if len(args) == 2 && k.isTensor(args[0]) {
			return fmt.Sprintf("%s.%simum(%s) calculates it on the device", x, strings.ToUpper(name[:1])+name[1:],
				types.ExprString(args[1]))
		}
	case "Abs", "Exp", "Log", "Sqrt":
		return fmt.Sprintf("%s.%s() calculates it on the device", x, name)
	}
	var operands []string
	for i := range args {
		operands = append(operands, fmt.Sprintf("x%d", i))
	}
	var all []string
	for _, a := range args {
		all = append(all, types.ExprString(a))
	}
	return fmt.Sprintf("symm.Map(\"%s(%s)\", %s) calculates it on the device, if a formula has that function",
		strings.ToLower(name), strings.Join(operands, ", "), strings.Join(all, ", "))
}

// partHint returns a hint for t[i] and t[i:j].
func (k *suggester) partHint(pos token.Pos) string {
	part := k.c.Find(pos, func(n ast.Node, pos token.Pos) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			return n.Pos() == pos && k.isTensor(n.X)
		case *ast.IndexListExpr:
			return n.Pos() == pos && k.isTensor(n.X)
		case *ast.SliceExpr:
			return n.Pos() == pos && k.isTensor(n.X)
		}
		return false
	})
	if part == nil {
		return ""
	}
	set, _ := k.c.Find(pos, func(n ast.Node, pos token.Pos) bool {
		s, ok := n.(*ast.AssignStmt)
		return ok && len(s.Lhs) == 1 && len(s.Rhs) == 1 && s.Lhs[0] == part && s.Tok == token.ASSIGN
	}).(*ast.AssignStmt)
	switch part := part.(type) {
	case *ast.IndexExpr:
		t, i := types.ExprString(part.X), types.ExprString(part.Index)
		slice := fmt.Sprintf("%s.Slice(%s, %s)", t, i, after(part.Index))
		if v := k.c.Info.Types[part.Index].Value; v == nil && i[0] == '-' || v != nil && constant.Sign(v) < 0 {
			slice = fmt.Sprintf("%s.Slice(%[1]s.Shape()[0]%s, …)", t, i)
			return slice + " is a part that begins so far from the end"
		}
		if set != nil {
			return fmt.Sprintf("%s.Fill(%s) sets it", slice, types.ExprString(set.Rhs[0]))
		}
		return fmt.Sprintf("%s is that part, and %s.Float32s()[%s] one element of a copy", slice, t, i)
	case *ast.SliceExpr:
		t := types.ExprString(part.X)
		lo, hi := "0", t+".Shape()[0]"
		if part.Low != nil {
			lo = types.ExprString(part.Low)
		}
		if part.High != nil {
			hi = types.ExprString(part.High)
		}
		slice := fmt.Sprintf("%s.Slice(%s, %s)", t, lo, hi)
		if set != nil {
			return fmt.Sprintf("%s.CopyFrom(…) sets it, and Fill to one value", slice)
		}
		return slice + " is that part"
	case *ast.IndexListExpr:
		return types.ExprString(part.X) + ".Slice(…) is a part of the first dimension; View gives another shape"
	}
	return ""
}

// after returns the text of index + 1.
func after(index ast.Expr) string {
	switch i := index.(type) {
	case *ast.BasicLit:
		if n, err := strconv.Atoi(i.Value); err == nil {
			return strconv.Itoa(n + 1)
		}
	case *ast.BinaryExpr:
		if i.Op.Precedence() < token.ADD.Precedence() {
			return "(" + types.ExprString(index) + ")+1"
		}
	}
	return types.ExprString(index) + "+1"
}

// tensorArgumentHint returns a hint for a tensor as argument of a builtin function, a conversion,
// or a function of package math.
func (k *suggester) tensorArgumentHint(call *ast.CallExpr, pos token.Pos) string {
	var t ast.Expr
	for _, arg := range call.Args {
		if arg.Pos() == pos {
			t = arg
		}
	}
	name := types.ExprString(t)
	fun, ok := ast.Unparen(call.Fun).(*ast.Ident)
	switch tv := k.c.Info.Types[call.Fun]; {
	case tv.IsType():
		return fmt.Sprintf("%s.Float32s()[0] is the first element of a copy", name)
	case !ok || !tv.IsBuiltin():
		if sig, ok := tv.Type.(*types.Signature); ok && sig.Params().Len() > 0 && isFloat(sig.Params().At(0).Type()) {
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if ok {
				return k.functionOf(sel.Sel.Name, call.Args)
			}
		}
		return ""
	case fun.Name == "len", fun.Name == "cap":
		return fmt.Sprintf("%s.Numel() is the number of elements, %[1]s.Shape() the size of each dimension", name)
	case fun.Name == "max", fun.Name == "min":
		return k.functionOf(fun.Name, call.Args)
	case fun.Name == "copy":
		return fmt.Sprintf("%s.CopyFrom(…) copies to it, and %[1]s.Float32s() from it", name)
	}
	return ""
}

func isFloat(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0
}

// isOperationAt reports whether n is an operation on a tensor to which a message at pos refers.
func (k *suggester) isOperationAt(n ast.Node, pos token.Pos) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return (n.Pos() == pos || n.OpPos == pos || n.Y.Pos() == pos) && k.firstTensor(n.X, n.Y) != nil
	case *ast.UnaryExpr:
		return (n.Pos() == pos || n.X.Pos() == pos) && n.Op != token.AND && k.isTensor(n.X)
	case *ast.AssignStmt:
		switch {
		case len(n.Lhs) != 1 || len(n.Rhs) != 1 || n.Tok == token.DEFINE:
			return false
		case n.Tok == token.ASSIGN: // assignment of a number
			basic, ok := k.c.Info.TypeOf(n.Rhs[0]).(*types.Basic)
			return n.Rhs[0].Pos() == pos && k.isTensor(n.Lhs[0]) && ok && basic.Info()&types.IsNumeric != 0
		}
		return (n.Pos() == pos || n.TokPos == pos || n.Rhs[0].Pos() == pos) && k.firstTensor(n.Lhs[0], n.Rhs[0]) != nil
	case *ast.RangeStmt:
		return n.X.Pos() == pos && k.isTensor(n.X)
	case *ast.CallExpr:
		for _, arg := range n.Args {
			if arg.Pos() == pos && k.isTensor(arg) {
				return true
			}
		}
	}
	return false
}

// firstTensor returns the first of two operands that is a tensor, or nil.
func (k *suggester) firstTensor(x, y ast.Expr) ast.Expr {
	for _, e := range []ast.Expr{x, y} {
		if k.isTensor(e) {
			return e
		}
	}
	return nil
}

func (k *suggester) isTensor(e ast.Expr) bool {
	return e != nil && check.IsTensor(k.c.Info.TypeOf(e))
}
