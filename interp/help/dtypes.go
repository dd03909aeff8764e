package help

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/interp/check"
)

// dtypeNames has other programs' names of element types that differ from symmem's.
var dtypeNames = map[string]string{
	"float": "F32", "single": "F32", "double": "F64", "half": "F16", "bfloat": "BF16", "char": "I8", "byte": "U8", "int": "I32",
	"long": "I64", "short": "I16", "ushort": "U16", "boolean": "Bool", "cfloat": "C64", "cdouble": "C128", "complex": "C128",
	"complex64": "C64", "complex128": "C128",
	"float8_e4m3": "F8E4M3", "float8_e4m3fn": "F8E4M3", "e4m3": "F8E4M3", "float8_e5m2": "F8E5M2", "e5m2": "F8E5M2",
}

// dtypeHint returns a hint for an argument at pos of a call that expects an element type, there or
// in another place: symm.Empty("float32", 4), symm.Empty(n), symm.Empty(4, symm.F32). It returns ""
// if there is no such call.
func (k *suggester) dtypeHint(pos token.Pos) string {
	call, ok := k.c.Find(pos, isCallAt).(*ast.CallExpr)
	if !ok {
		return ""
	}
	sig, ok := k.c.Info.TypeOf(call.Fun).(*types.Signature)
	if !ok {
		return ""
	}
	at := slices.IndexFunc(call.Args, func(arg ast.Expr) bool { return arg.Pos() == pos })
	wanted := -1
	for i := range sig.Params().Len() {
		if check.SymmType(sig.Params().At(i).Type()) == "DType" {
			wanted = i
		}
	}
	if at < 0 || wanted < 0 {
		return ""
	}
	if at == wanted {
		if name := k.dtypeMeant(call.Args[at]); name != "" {
			return didYouMean([]string{k.symmem() + "." + name})
		}
	}
	rest := slices.Clone(call.Args)
	first := k.symmem() + ".F32"
	if at != wanted {
		if check.SymmType(k.c.Info.TypeOf(call.Args[at])) != "DType" {
			return ""
		}
		first = types.ExprString(call.Args[at])
		rest = slices.Delete(rest, at, at+1)
	}
	if wanted != 0 || !sig.Variadic() {
		return "an element type is one such as " + first
	}
	args := []string{first}
	for _, arg := range rest {
		text := types.ExprString(arg)
		if t := k.c.Info.TypeOf(arg); t != nil && types.Identical(t, types.NewSlice(types.Typ[types.Int])) {
			text += "..."
		}
		args = append(args, text)
	}
	return "the element type comes first: " + types.ExprString(call.Fun) + "(" + strings.Join(args, ", ") + ")"
}

// dtypeMeant returns the element type for an expression as other programs write it: "float32",
// torch.float32, float32.
func (k *suggester) dtypeMeant(e ast.Expr) string {
	var word string
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		word, _ = strconv.Unquote(e.Value)
	case *ast.Ident:
		if _, ok := k.c.Info.Uses[e].(*types.Var); ok {
			return ""
		}
		word = e.Name
	case *ast.SelectorExpr:
		word = e.Sel.Name
	}
	if word = strings.ToLower(word); word == "" || word[0] >= '0' && word[0] <= '9' {
		return ""
	}
	if name := dtypeNames[word]; name != "" {
		return name
	}
	var names []string
	if pkg, err := k.checker.Packages().Import(check.SymmemPath); err == nil {
		for _, name := range exportedNames(pkg) {
			if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && check.SymmType(c.Type()) == "DType" {
				names = append(names, name)
			}
		}
	}
	if like := spelling.Similar(word, names); len(like) > 0 {
		return like[0]
	}
	return ""
}

// symmem returns the cell's name for package symmem.
func (k *suggester) symmem() string {
	imports := k.attempt.Imports()
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		if imports[name] == check.SymmemPath {
			return name
		}
	}
	return "symm"
}
