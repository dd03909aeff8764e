package interp

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// complete lists, one a line, what the word at the end of src may become: names in scope, members of a package, fields and methods.
func (in *Interp) complete(src string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	operand, prefix := lastWord(src)
	var names []string
	if operand == "" {
		names = in.namesInScope()
	} else {
		names = in.members(operand)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) || n == "_" })
	slices.Sort(names)
	return strings.Join(slices.Compact(names), "\n")
}

// lastWord splits the end of src into the operand of a selector, if there is one, and the identifier being typed.
func lastWord(src string) (operand, prefix string) {
	start := strings.LastIndexFunc(src, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if start >= 0 {
		_, size := utf8.DecodeRuneInString(src[start:])
		start += size
	} else {
		start = 0
	}
	prefix = src[start:]
	rest := src[:start]
	if !strings.HasSuffix(rest, ".") {
		return "", prefix
	}
	rest = strings.TrimSuffix(rest, ".")
	return rest[operandStart(rest):], prefix
}

// operandStart finds where the primary expression at the end of s begins.
func operandStart(s string) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		c := s[i]
		switch {
		case c == ')' || c == ']' || c == '}':
			depth++
		case c == '(' || c == '[' || c == '{':
			if depth--; depth < 0 {
				return i + 1
			}
		case depth > 0, c == '.', c == '_', c >= 0x80, unicode.IsLetter(rune(c)), unicode.IsDigit(rune(c)):
		default:
			return i + 1
		}
	}
	return 0
}

func (in *Interp) namesInScope() []string {
	names := slices.Concat(types.Universe.Names(), keywords())
	for name := range in.scope.objects {
		names = append(names, name)
	}
	for name := range in.scope.imports {
		names = append(names, name)
	}
	return names
}

func keywords() []string {
	var words []string
	for t := token.BREAK; t <= token.VAR; t++ {
		words = append(words, t.String())
	}
	return words
}

// members lists what may follow operand and a dot.
func (in *Interp) members(operand string) []string {
	if path, ok := in.scope.imports[operand]; ok && in.scope.objects[operand] == nil {
		pkg, err := in.pkgs.Import(path)
		if err != nil {
			return nil
		}
		return slices.DeleteFunc(pkg.Scope().Names(), func(n string) bool { return !token.IsExported(n) })
	}
	tv, err := in.evalType(operand)
	if err != nil || tv.Type == nil {
		return nil
	}
	var names []string
	methods := types.NewMethodSet(addressableType(tv.Type))
	for m := range methods.Methods() {
		if m.Obj().Exported() || m.Obj().Pkg() == in.pkg {
			names = append(names, m.Obj().Name())
		}
	}
	return append(names, in.fields(tv.Type, 0)...)
}

// addressableType is the pointer to t unless t is one or an interface: a variable also has the methods of its pointer.
func addressableType(t types.Type) types.Type {
	if _, ok := t.Underlying().(*types.Pointer); ok || types.IsInterface(t) {
		return t
	}
	return types.NewPointer(t)
}

// fields lists the fields of a struct or of what a pointer to one points to, promoted ones as well.
func (in *Interp) fields(t types.Type, depth int) []string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth > 4 {
		return nil
	}
	var names []string
	for f := range s.Fields() {
		if f.Exported() || f.Pkg() == in.pkg {
			names = append(names, f.Name())
		}
		if f.Embedded() {
			names = append(names, in.fields(f.Type(), depth+1)...)
		}
	}
	return names
}
