package console

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"regexp"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// The contents of tensors are looked at by cells that are not recorded: all ranks take part, the
// device calculates, and the user can interrupt them as any cell. A cell returns a line of fields;
// the session folds the lines of the ranks.

// Difference describes the difference of two tensors on Ranks: of x and y, or of x and the x of the
// first rank.
type Difference struct {
	Ranks  []int  `json:"ranks"`
	Tensor string `json:"tensor"`          // "f32[4, 4]"
	Numel  int    `json:"numel"`           // number of elements
	Differ int    `json:"differ"`          // number of elements that differ; NaN equals NaN here
	Max    string `json:"max,omitempty"`   // the largest difference; "NaN" if NaN is compared with a number
	First  []int  `json:"first,omitempty"` // index of the first element that differs
	X      string `json:"x,omitempty"`     // this element
	Y      string `json:"y,omitempty"`     // and the one that it was compared with
}

// Statistics describes the elements of a tensor on Ranks. Min, Max, Mean and Deviation are
// calculated from the finite elements; they are empty if there is none.
type Statistics struct {
	Ranks     []int  `json:"ranks"`
	Tensor    string `json:"tensor"`
	Memory    string `json:"memory"` // as session.TensorInfo.Memory
	Numel     int    `json:"numel"`
	NaN       int    `json:"nan"`
	Infinite  int    `json:"infinite"`
	Min       string `json:"min,omitempty"`
	Max       string `json:"max,omitempty"`
	Mean      string `json:"mean,omitempty"`
	Deviation string `json:"deviation,omitempty"`
}

// equal is a formula that is not 0 where two tensors are equal.
const equal = "(x0 == x1 || isnan(x0) && isnan(x1))"

// refused begins the answer of a rank whose tensors have different shapes.
const refused = "the tensors have different shapes: "

// compare is the end of a cell that compares x with y.
const compare = `	out := []any{x.DType(), x.Numel()}
	differ := 0.0
	if x.Numel() > 0 {
		differ = symm.Reduce("sum(` + equal + ` ? 0 : 1)", x, y).Item()
	}
	out = append(out, int(differ))
	if differ > 0 {
		first := int(symm.Reduce("argmin(` + equal + ` ? 1 : 0)", x, y).Item())
		flatX, flatY := x.View(-1), y.View(-1)
		largest := symm.Reduce("max(` + equal + ` ? 0 : abs(f64(x0) - f64(x1)))", x, y).Item()
		out = append(out, largest, first, flatX.Slice(first, first+1).Item(), flatY.Slice(first, first+1).Item())
	}
	return fmt.Sprintln(append(out, x.Shape())...)
}()`

// Diff compares two tensors on each of ranks (nil: all), or, if y is empty, the tensor x of each
// rank with rank 0's x, for which all ranks must take part. x and y are expressions. The tensors
// need the same shape. The result has one entry for ranks with the same answer.
func (c *Console) Diff(ctx context.Context, r Request, ranks []int, x, y string) ([]Difference, []*session.Error) {
	source := "func() string {\n\tx := (" + x + ")\n\ty := (" + y + ")\n" + `	if fmt.Sprint(x.Shape()) != fmt.Sprint(y.Shape()) {
		return fmt.Sprintf("` + refused + `%v and %v", x.Shape(), y.Shape())
	}
` + compare
	if y == "" {
		source = "func() string {\n\tx := (" + x + ")\n" + `	y := symm.Empty(x.DType(), x.Shape()...)
	symm.Broadcast(y.CopyFrom(x), 0)
	text := func() string {
` + compare + `
	y.Free()
	return text
}()`
	}
	values, errs := c.lookAt(ctx, r, "diff", x, y, source, ranks)
	for _, e := range errs {
		if e.Kind == session.KindMismatch {
			e.Msg, e.Hint = "the tensors of the ranks have different types or shapes: "+e.Msg, "`:vars` shows them"
		}
	}
	var list []Difference
	for _, v := range values {
		f := v.fields
		d := Difference{Ranks: v.ranks, Tensor: f[0] + v.shape.String(), Numel: number(f[1]), Differ: number(f[2])}
		if d.Differ > 0 {
			d.Max, d.First, d.X, d.Y = f[3], v.shape.index(number(f[4])), f[5], f[6]
		}
		list = append(list, d)
	}
	return list, errs
}

// Statistics calculates the statistics of a tensor on each of ranks (nil: all). x is an expression.
// The result has one entry for ranks with the same answer.
func (c *Console) Statistics(ctx context.Context, r Request, ranks []int, x string) ([]Statistics, []*session.Error) {
	values, errs := c.lookAt(ctx, r, "statistics", x, "", "func() string {\n\tx := ("+x+`)
	of := func(formula string) float64 { return symm.Reduce(formula, x).Item() }
	n, nan, infinite := x.Numel(), 0.0, 0.0
	if n > 0 {
		nan, infinite = of("sum(isnan(x0))"), of("sum(isinf(x0))")
	}
	finite := float64(n) - nan - infinite
	out := []any{x.DType(), strings.ReplaceAll(x.Memory(), " ", "_"), n, int(nan), int(infinite)}
	if finite > 0 {
		mean := of("sum(isfinite(x0) ? f64(x0) : 0)") / finite
		squares := symm.Reduce("sum(isfinite(x0) ? (f64(x0)-x1)*(f64(x0)-x1) : 0)", x, symm.Local(symm.F64, x.Shape()...).Fill(mean)).Item()
		out = append(out, of("min(isfinite(x0) ? f64(x0) : inf)"), of("max(isfinite(x0) ? f64(x0) : -inf)"), mean, math.Sqrt(squares/finite))
	}
	return fmt.Sprintln(append(out, x.Shape())...)
}()`, ranks)
	var list []Statistics
	for _, v := range values {
		f := v.fields
		s := Statistics{
			Ranks: v.ranks, Tensor: f[0] + v.shape.String(), Memory: strings.ReplaceAll(f[1], "_", " "),
			Numel: number(f[2]), NaN: number(f[3]), Infinite: number(f[4]),
		}
		if len(f) > 5 {
			s.Min, s.Max, s.Mean, s.Deviation = f[5], f[6], f[7], f[8]
		}
		list = append(list, s)
	}
	return list, errs
}

// looked is the answer of ranks to a cell of lookAt: the fields of its line, and the shape at its
// end.
type looked struct {
	ranks  []int
	fields []string
	shape  shape
}

// noTensor matches the error of a cell of this file whose operand x or y is no tensor.
var noTensor = regexp.MustCompile(`^([xy])\.\w+ undefined \(type (.*) has no field or method \w+\)$`)

// lookAt runs a cell that is not recorded and whose value is a line. x and y are its operands.
func (c *Console) lookAt(ctx context.Context, r Request, name, x, y, source string, ranks []int) (list []looked, errs []*session.Error) {
	r.Name = name
	reply := c.eval(ctx, r, session.Cell{Source: source, Ranks: ranks, Silent: true})
	for _, e := range reply.Errors {
		e.Cell, e.Op, e.File, e.Line, e.Column, e.Source, e.Detail = 0, name, "", 0, 0, "", "" // of a cell that the user does not see
		if m := noTensor.FindStringSubmatch(e.Msg); m != nil {
			e.Msg, e.Hint = map[string]string{"x": x, "y": y}[m[1]]+" is no tensor: it has type "+m[2],
				"give an expression of type *symm.Tensor"
		}
	}
	for _, v := range reply.Values {
		text, err := strconv.Unquote(v.Text)
		if strings.HasPrefix(text, refused) {
			reply.Errors = append(reply.Errors, &session.Error{
				Kind: session.KindMisuse, Ranks: v.Ranks, Peer: -1, Op: name, Msg: text, Hint: "View gives a tensor other dimensions",
			})
			continue
		}
		line, dims, ok := strings.Cut(strings.TrimSpace(text), "[")
		if err != nil || !ok {
			return nil, []*session.Error{{Kind: session.KindSystem, Ranks: v.Ranks, Peer: -1, Op: name,
				Msg: "the ranks answered with " + v.Text}}
		}
		l := looked{ranks: v.Ranks, fields: strings.Fields(line)}
		for _, d := range strings.Fields(strings.TrimSuffix(dims, "]")) {
			l.shape = append(l.shape, number(d))
		}
		list = append(list, l)
	}
	return list, reply.Errors
}

// number reads a number that a cell of this file has written.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// shape is the shape of a tensor.
type shape []int

// String is "[4, 4]", as tensors print it.
func (s shape) String() string {
	var dims []string
	for _, d := range s {
		dims = append(dims, strconv.Itoa(d))
	}
	return "[" + strings.Join(dims, ", ") + "]"
}

// index returns the index of the element with a number, in all dimensions.
func (s shape) index(n int) []int {
	at := make([]int, len(s))
	for i := len(s) - 1; i >= 0; i-- {
		at[i], n = n%s[i], n/s[i]
	}
	return at
}

// Expressions reads one or two expressions of Go, the second after a comma or a space. y is empty if
// there is one.
func Expressions(text string) (x, y string, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", "", errors.New("the name of a tensor is expected, or two")
	}
	if _, err := parser.ParseExpr(text); err == nil {
		return text, "", nil
	}
	if call, err := parser.ParseExpr("f(" + text + ")"); err == nil {
		if call, ok := call.(*ast.CallExpr); ok && len(call.Args) == 2 && !call.Ellipsis.IsValid() {
			of := func(e ast.Expr) string { return text[e.Pos()-3 : e.End()-3] }
			return of(call.Args[0]), of(call.Args[1]), nil
		}
	}
	for i, letter := range text {
		if letter != ' ' {
			continue
		}
		x, y := text[:i], strings.TrimSpace(text[i:])
		_, errX := parser.ParseExpr(x)
		_, errY := parser.ParseExpr(y)
		if errX == nil && errY == nil {
			return x, y, nil
		}
	}
	return "", "", fmt.Errorf("%q is not one expression of Go, and not two with a comma between", text)
}
