package help

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/interp/check"
)

// Users who know Python and CUDA C++ may write it in cells. Hints show the equivalent in Go.

// fromPython has patterns of lines that begin a statement of Python, and its beginning in Go, in
// which $1 and so on stand for the parenthesised parts.
var fromPython = []struct {
	line *regexp.Regexp
	hint string
}{
	{regexp.MustCompile(`^for (\w+) in range\(([^,()]+)\)\s*:?`), "Go's loops have no in: for $1 := range $2 { … }"},
	{regexp.MustCompile(`^for (\w+) in range\(([^,]+), *([^,]+)\)\s*:?$`), "Go's loops have no in: for $1 := $2; $1 < $3; $1++ { … }"},
	{regexp.MustCompile(`^for (\w+) in range\(([^,]+), *([^,]+), *([^,]+)\)\s*:?$`),
		"Go's loops have no in: for $1 := $2; $1 < $3; $1 += $4 { … }"},
	{regexp.MustCompile(`^for (\w+), *(\w+) in enumerate\((.+)\)\s*:?$`), "Go's loops have no in: for $1, $2 := range $3 { … }"},
	{regexp.MustCompile(`^for (\w+) in ([^{]+?)\s*:?$`), "Go's loops have no in: for _, $1 := range $2 { … }"},
	{regexp.MustCompile(`^(?:if|elif) (.+):$`), "braces surround the statements of a condition: if $1 { … } else { … }"},
	{regexp.MustCompile(`^while (.+):$`), "Go's loops all begin with for: for $1 { … }"},
	{regexp.MustCompile(`^def (\w+)\((.*)\).*:`), "functions begin with func and say their types: func $1(x float64) float64 { … }"},
	{regexp.MustCompile(`^(?:import|from) (?:torch|numpy|cupy|jax)\b`),
		"cells are Go: package symm has tensors and communication between ranks, and is imported; symm? lists it"},
	{regexp.MustCompile(`^import ([a-z][\w/]*)$`), `the path is in quotes: import "$1"`},
	{regexp.MustCompile(`^(__global__|__device__|#\s*include|extern "C"|template\s*<)`),
		"code for the device is a text: k := symm.Compile(`…`)"},
	{regexp.MustCompile(`^#`), "comments begin with //"},
	{regexp.MustCompile(`^not \w+`), "! is not"},
	{regexp.MustCompile(`^assert (.+)`), "if !($1) { panic(…) } ends the cell"},
	{regexp.MustCompile(`^lambda `), "func(x float64) float64 { return … } is a function without a name"},
	{regexp.MustCompile(`^@triton\.`), "kernels are CUDA C++, the text of symm.Compile; one that Triton has compiled is loaded by symm.LoadKernel"},
	{regexp.MustCompile(`^@\w`), "Go has no decorators: f := wrap(func() { … }) gives a function to another"},
	{regexp.MustCompile(`[(,]\s*async_op\s*=`), "symm.Async(func() { … }) issues a collective beside the rank's work, and Wait of its result waits for it"},
	{regexp.MustCompile(`\w\(.*?\b([a-z_]\w*)=[^=].*\)`), "arguments of Go have no names: give the value alone, in its place"},
	{regexp.MustCompile(`[\w.)\]] @ [\w.(]`), "MatMul multiplies: symm.MatMul(out, a, b)"},
}

// pythonHint returns a hint for a line of Python.
func pythonHint(line string) string {
	for _, p := range fromPython {
		if m := p.line.FindStringSubmatchIndex(line); m != nil {
			return string(p.line.ExpandString(nil, p.hint, line, m))
		}
	}
	return ""
}

// powerHint returns a hint for x ** y, which Go parses as x times the target of y.
func (k *suggester) powerHint(pos token.Pos) string {
	power, ok := k.c.Find(pos, func(n ast.Node, pos token.Pos) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op != token.MUL {
			return false
		}
		star, ok := b.Y.(*ast.StarExpr)
		return ok && star.X.Pos() == pos && star.Star == b.OpPos+1
	}).(*ast.BinaryExpr)
	if !ok {
		return ""
	}
	x, y := types.ExprString(power.X), types.ExprString(power.Y.(*ast.StarExpr).X)
	if k.isTensor(power.X) {
		return fmt.Sprintf("%s.Pow(%s) is a power", x, y)
	}
	return fmt.Sprintf("math.Pow(%s, %s) is a power", x, y)
}

// tripleAngles matches a launch in CUDA C++. Its configuration may continue on the next line.
var tripleAngles = regexp.MustCompile(`([\w.]+)\s*<<<(.*?)(?:>>>\s*\(?(.*?)\)?;?)?$`)

// launchHint returns the Go code for a launch in CUDA C++.
func launchHint(line string) string {
	m := tripleAngles.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	config := splitArguments(m[2])
	args := []string{"symm.Grid(1)", "symm.Block(256)"}
	for i, dims := range config {
		dims = strings.TrimSuffix(strings.TrimPrefix(dims, "dim3("), ")")
		switch i {
		case 0:
			args[0] = "symm.Grid(" + dims + ")"
		case 1:
			args[1] = "symm.Block(" + dims + ")"
		case 2:
			if dims != "0" {
				args = append(args, "symm.SharedBytes("+dims+")")
			}
		case 3:
			args = append(args, dims)
		}
	}
	if given := strings.TrimSpace(m[3]); given != "" {
		args = append(args, given)
	} else if !strings.Contains(line, ">>>") {
		args = append(args, "…")
	}
	return m[1] + ".Launch(" + strings.Join(args, ", ") + ") launches a kernel"
}

// splitArguments splits a list at the commas outside of parentheses.
func splitArguments(list string) (args []string) {
	depth, start := 0, 0
	for i, c := range list + "," {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			if arg := strings.TrimSpace(list[start:i]); arg != "" {
				args = append(args, arg)
			}
			start = i + 1
		}
	}
	return args
}

// pythonModules has the usual Python names of modules for tensors and communication.
var pythonModules = []string{"torch", "dist", "symm_mem", "np", "numpy", "cp", "cupy", "jax", "jnp", "nccl", "nvshmem",
	"triton", "funcol", "fsdp", "nvshmem_triton"}

// asInPython has functions of those modules whose arguments fit a function here, and that foreign.txt
// says more about.
var asInPython = map[string]string{"zeros": "Empty", "tensor": "Empty", "matmul": "MatMul", "mm": "MatMul"}

// moduleHint returns a hint for a name of Python's modules at pos, as in dist.all_reduce(x), and ""
// for other names.
func (k *suggester) moduleHint(name string, pos token.Pos) string {
	if !slices.Contains(pythonModules, name) {
		return ""
	}
	var chain ast.Expr // torch.distributed.all_reduce
	var call *ast.CallExpr
	isChain := func(n ast.Node, pos token.Pos) bool {
		if n.Pos() != pos {
			return false
		}
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if _, called := n.X.(*ast.CallExpr); !called && chain == nil {
				chain = n
			}
		case *ast.CallExpr:
			if call == nil || chain == nil {
				call, chain = n, nil
			}
		}
		return false
	}
	k.c.Find(pos, isChain)
	sel, ok := chain.(*ast.SelectorExpr)
	pkg, err := k.checker.Packages().Import(check.SymmemPath)
	if !ok || err != nil {
		return ""
	}
	member := asInPython[sel.Sel.Name]
	if says := foreignSays(sel.Sel.Name); member == "" && foreignName.MatchString(says) {
		member = strings.TrimPrefix(says, "symm.")
	}
	for _, m := range exportedNames(pkg) {
		if spelling.Fold(m) == spelling.Fold(sel.Sel.Name) {
			member = m
		}
	}
	if hint := foreignHint(sel.Sel.Name); member == "" && hint != "" {
		return hint
	}
	if member == "" {
		return "cells are Go, and their tensors are those of package " + k.symmem() + ": " + k.symmem() + "? lists what it has"
	}
	member = k.symmem() + "." + member
	fn, ok := pkg.Scope().Lookup(strings.TrimPrefix(member, k.symmem()+".")).(*types.Func)
	if call == nil || call.Fun != chain || !ok {
		return didYouMean([]string{member})
	}
	return didYouMean([]string{member + k.argumentsFor(fn.Signature(), call)})
}

// textArgument returns argument i of a call if it is a text, or else the reduction "sum".
func textArgument(call *ast.CallExpr, i int) string {
	if i < len(call.Args) {
		if lit, ok := call.Args[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			return lit.Value
		}
	}
	return `"sum"`
}

// argumentsFor returns the arguments of a call as arguments of another function: those that fit,
// and "sum" for a reduction.
func (k *suggester) argumentsFor(sig *types.Signature, call *ast.CallExpr) string {
	want := sig.Params().Len()
	if sig.Variadic() {
		want--
	}
	var args []string
	for i := range want {
		t := sig.Params().At(i).Type()
		switch {
		case types.Identical(t, types.Typ[types.String]):
			args = append(args, textArgument(call, i))
		case check.SymmType(t) == "DType":
			args = append(args, k.symmem()+".F32")
			for _, arg := range call.Args {
				args = append(args, types.ExprString(arg))
			}
		case i < len(call.Args):
			args = append(args, types.ExprString(call.Args[i]))
		default:
			args = append(args, "…")
		}
	}
	return "(" + strings.Join(args, ", ") + ")"
}
