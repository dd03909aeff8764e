package foreign

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// Python's precedences.
const (
	lowest = iota
	conditional
	disjunction
	conjunction
	negation
	comparison
	bitOr
	bitXor
	bitAnd
	shift
	sum
	product
	unary
)

func (m *python) literal(e *ast.BasicLit) text {
	value := m.info.Types[e].Value
	switch e.Kind {
	case token.STRING:
		return text{quote(constant.StringVal(value)), atom}
	case token.INT:
		if len(e.Value) > 1 && e.Value[0] == '0' && e.Value[1] >= '0' && e.Value[1] <= '9' {
			break // an octal number
		}
		if m.isFloat(e) {
			return text{e.Value + ".0", atom}
		}
		return text{e.Value, atom}
	case token.FLOAT:
		if !strings.ContainsAny(e.Value, "xXpP") {
			if v := constant.ToInt(value); v.Kind() == constant.Int && !m.isFloat(e) {
				return text{v.ExactString(), atom}
			}
			return text{e.Value, atom}
		}
	}
	return m.constant(e)
}

func (m *python) integer(_ ast.Expr, v constant.Value) text { return signed(v.ExactString(), unary) }

func (m *python) number(_ ast.Expr, s string) text { return signed(s, unary) }

func (m *python) slice(e *ast.SliceExpr) text {
	bound := func(x ast.Expr) string {
		if x == nil {
			return ""
		}
		return m.expr(x)
	}
	return atomic("%s[%s:%s]", m.expression(e.X).in(atom), bound(e.Low), bound(e.High))
}

func (m *python) unary(e *ast.UnaryExpr) text {
	switch e.Op {
	case token.SUB:
		return m.wrapped(e, text{"-" + m.expression(e.X).in(unary), unary})
	case token.ADD:
		return m.expression(e.X)
	case token.NOT:
		return text{"not " + m.expression(e.X).in(negation), negation}
	case token.XOR:
		return m.wrapped(e, text{"~" + m.expression(e.X).in(unary), unary})
	}
	m.refuse("Python has no operator " + e.Op.String())
	return text{}
}

// operators are Python's for those of Go.
var operators = map[token.Token]struct {
	text       string
	precedence int
}{
	token.LOR: {"or", disjunction}, token.LAND: {"and", conjunction},
	token.EQL: {"==", comparison}, token.NEQ: {"!=", comparison}, token.LSS: {"<", comparison}, token.LEQ: {"<=", comparison},
	token.GTR: {">", comparison}, token.GEQ: {">=", comparison},
	token.ADD: {"+", sum}, token.SUB: {"-", sum}, token.MUL: {"*", product}, token.QUO: {"/", product}, token.REM: {"%", product},
	token.OR: {"|", bitOr}, token.XOR: {"^", bitXor}, token.AND: {"&", bitAnd}, token.SHL: {"<<", shift}, token.SHR: {">>", shift},
}

func (m *python) binary(e *ast.BinaryExpr) text {
	op, ok := operators[e.Op]
	x, y := m.expression(e.X), m.expression(e.Y)
	if e.Op == token.AND_NOT {
		return text{x.in(bitAnd) + " & ~" + y.in(unary), bitAnd}
	}
	if !ok {
		m.refuse("Python has no operator " + e.Op.String())
	}
	integers := basic(m.info.TypeOf(e))&types.IsInteger != 0
	switch {
	case op.precedence == comparison:
		if y.s == "None" && (op.text == "==" || op.text == "!=") {
			return m.isNil(e, x, op.text == "==")
		}
		return text{x.in(bitOr) + " " + op.text + " " + y.in(bitOr), comparison}
	case integers && e.Op == token.QUO && !(m.natural(e.X) && m.natural(e.Y)):
		return atomic("symm.quotient(%s, %s)", x.s, y.s)
	case integers && e.Op == token.REM && !(m.natural(e.X) && m.natural(e.Y)):
		return atomic("symm.remainder(%s, %s)", x.s, y.s)
	case integers && e.Op == token.QUO:
		return text{x.in(product) + " // " + y.in(unary), product}
	}
	result := text{x.in(op.precedence) + " " + op.text + " " + y.in(op.precedence+1), op.precedence}
	if integers && (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL || e.Op == token.SHL) {
		return m.wrapped(e, result)
	}
	return result
}

// isNil compares with nil: an empty list stands for a nil slice.
func (m *python) isNil(e *ast.BinaryExpr, x text, is bool) text {
	switch m.info.TypeOf(e.X).Underlying().(type) {
	case *types.Slice, *types.Map:
		m.refuse("Python has no nil slices and maps")
	}
	if is {
		return text{x.in(bitOr) + " is None", comparison}
	}
	return text{x.in(bitOr) + " is not None", comparison}
}

// wrapped returns the result of arithmetic in the range of its type. An int, of 64 bits, is taken
// not to overflow; nor is an unsigned one of 64 bits to which a constant is added.
func (m *python) wrapped(e ast.Expr, result text) text {
	if m.info.Types[e].Value != nil {
		return result
	}
	b, ok := m.info.TypeOf(e).Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 {
		return result
	}
	bits := map[types.BasicKind]int{types.Uint8: 8, types.Uint16: 16, types.Uint32: 32, types.Uint64: 64, types.Uint: 64,
		types.Uintptr: 64}[b.Kind()]
	if sumOf, is := e.(*ast.BinaryExpr); is && bits == 64 && sumOf.Op == token.ADD && m.info.Types[sumOf.Y].Value != nil {
		return result
	}
	switch {
	case bits != 0:
		return text{result.in(bitAnd) + " & " + fmt.Sprintf("0x%x", ^uint64(0)>>(64-bits)), bitAnd}
	case b.Kind() == types.Int8, b.Kind() == types.Int16, b.Kind() == types.Int32:
		m.refuse("Python's integers do not wrap around as " + b.Name() + " does")
	}
	return result
}

// natural reports whether an integer is known not to be negative.
func (m *python) natural(e ast.Expr) bool {
	tv := m.info.Types[e]
	if tv.Value != nil {
		return constant.Sign(constant.ToInt(tv.Value)) >= 0
	}
	if basic(tv.Type)&types.IsUnsigned != 0 {
		return true
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return m.natural(e.X)
	case *ast.Ident:
		return m.naturals[m.info.ObjectOf(e)]
	case *ast.BinaryExpr:
		switch e.Op {
		case token.SUB: // (rank + size - 1) % size
			sumOf, ok := ast.Unparen(e.X).(*ast.BinaryExpr)
			one := m.info.Types[e.Y].Value
			return ok && sumOf.Op == token.ADD && one != nil && one.ExactString() == "1" && m.natural(sumOf.X) && m.positive(sumOf.Y)
		case token.ADD, token.MUL, token.QUO, token.REM, token.AND, token.OR, token.SHL, token.SHR:
			return m.natural(e.X) && m.natural(e.Y)
		}
	case *ast.CallExpr:
		switch f := e.Fun.(type) {
		case *ast.Ident:
			return f.Name == "len" || f.Name == "int" && len(e.Args) == 1 && m.natural(e.Args[0])
		case *ast.SelectorExpr:
			return f.Sel.Name == "Rank" || m.positive(e)
		}
	}
	return false
}

// positive reports whether an expression is the number of ranks.
func (m *python) positive(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return m.positives[m.info.ObjectOf(e)]
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "WorldSize"
	}
	return false
}

func (m *python) composite(e *ast.CompositeLit) text {
	switch t := m.info.TypeOf(e).Underlying().(type) {
	case *types.Slice, *types.Array:
		for _, x := range e.Elts {
			if _, ok := x.(*ast.KeyValueExpr); ok {
				m.refuse("a list of Python has no indices")
			}
		}
		if a, ok := t.(*types.Array); ok && int(a.Len()) != len(e.Elts) {
			if len(e.Elts) > 0 {
				m.refuse("the array has more elements than are given")
			}
			return text{m.zero(t), atom}
		}
		return atomic("[%s]", m.exprs(e.Elts))
	case *types.Map:
		var pairs []string
		for _, x := range e.Elts {
			kv := x.(*ast.KeyValueExpr)
			pairs = append(pairs, m.expr(kv.Key)+": "+m.expr(kv.Value))
		}
		return atomic("{%s}", strings.Join(pairs, ", "))
	}
	m.refuse("structs are not carried over")
	return text{}
}

// zero returns the zero value of a type.
func (m *python) zero(t types.Type) string {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case t.Info()&types.IsBoolean != 0:
			return "False"
		case t.Info()&types.IsString != 0:
			return `""`
		case t.Info()&types.IsInteger != 0:
			return "0"
		case t.Info()&types.IsFloat != 0:
			return "0.0"
		}
	case *types.Slice:
		return "[]"
	case *types.Map:
		return "{}"
	case *types.Pointer, *types.Signature, *types.Interface:
		return "None"
	case *types.Array:
		return m.repeated(t.Elem(), fmt.Sprint(t.Len()))
	}
	m.refuse("values of type " + typeName(t) + " are not carried over")
	return ""
}

// repeated returns a list of zero values.
func (m *python) repeated(elem types.Type, n string) string {
	zero := m.zero(elem)
	if strings.HasSuffix(zero, "]") || strings.HasSuffix(zero, "}") || strings.Contains(zero, "for _ in") {
		return "[" + zero + " for _ in range(" + n + ")]"
	}
	return "[" + zero + "] * " + parenthesised(n)
}

func parenthesised(n string) string {
	if strings.ContainsAny(n, " ") {
		return "(" + n + ")"
	}
	return n
}

// lambda returns a function without a name, whose body is one expression.
func (m *python) lambda(e *ast.FuncLit) text {
	if len(e.Body.List) == 1 {
		var body []ast.Expr
		switch s := e.Body.List[0].(type) {
		case *ast.ReturnStmt:
			body = s.Results
		case *ast.ExprStmt:
			body = []ast.Expr{s.X}
		}
		if len(body) == 1 {
			params := strings.Join(m.params(e.Type), ", ")
			if params != "" {
				params = " " + params
			}
			return text{"lambda" + params + ": " + m.expr(body[0]), lowest}
		}
	}
	m.refuse("a function without a name is one expression in Python")
	return text{}
}

// params defines the parameters of a function and returns their names.
func (m *python) params(t *ast.FuncType) (list []string) {
	for _, field := range t.Params.List {
		if _, ok := field.Type.(*ast.Ellipsis); ok {
			m.refuse("it takes any number of arguments")
		}
		for _, id := range field.Names {
			if v, ok := m.info.Defs[id].(*types.Var); ok && id.Name != "_" {
				list = append(list, m.define(v, false))
			} else {
				list = append(list, "_")
			}
		}
		if field.Names == nil {
			list = append(list, fmt.Sprint("_", len(list)))
		}
	}
	return list
}
