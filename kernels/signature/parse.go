package signature

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// Kernel is one __global__ function with a body.
type Kernel struct {
	// with its namespaces: "scale", "mine::scale"; for an instance of a template with its
	// arguments: "scale<float, 4>"
	Name     string
	Params   []Param
	Line     int  // line of the name, 1-based
	ExternC  bool // declared extern "C", alone or in a block
	Template bool // a template, which cannot be launched by name

	// Instantiation is the declaration that makes an instance, "template __global__ void
	// scale<float>(float*);", as pieces of the text; nil for other kernels.
	Instantiation []cudalex.Piece

	parameters []templateParam // for a template
}

// Param is one parameter. Arrays are converted to pointers, and default arguments are removed.
type Param struct {
	Name string // empty if the text has none
	Type string // in canonical spacing: "const float* __restrict__"

	// Text is the declaration without its default argument, as pieces of the parsed text.
	Text []cudalex.Piece
}

// String returns the signature as used in a launch: "scale(float* x, int n)".
func (k Kernel) String() string {
	var b strings.Builder
	b.WriteString(k.Name + "(")
	for i, p := range k.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.String())
	}
	return b.String() + ")"
}

// String returns the parameter as text: "float* x".
func (p Param) String() string {
	if p.Name == "" {
		return p.Type
	}
	return p.Type + " " + p.Name
}

// Parse returns the kernels of a CUDA C++ text in the order of the text, followed by instances of
// its templates: "scale<float>". Templates are launched only through instances: those given in
// instances, those that the text instantiates, and specialisations. Declarations without a body are
// not kernels. An error is a *cudalex.Error.
func Parse(src string, instances ...string) ([]Kernel, error) {
	toks, err := cudalex.Tokens(src)
	if err != nil {
		return nil, err
	}
	p := parser{toks: toks}
	kernels, err := p.file()
	if err != nil {
		return nil, err
	}
	for _, name := range instances {
		k, err := instance(kernels, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(kernels, func(o Kernel) bool { return o.Name == k.Name }) {
			kernels = append(kernels, k)
		}
	}
	return kernels, nil
}

// scope is the meaning of an open brace.
type scope struct {
	externC   bool
	namespace string // with its trailing "::"; empty for any other brace
}

type parser struct {
	toks   []cudalex.Piece
	pos    int
	start  int // beginning of the current declaration
	scopes []scope
}

func (p *parser) file() ([]Kernel, error) {
	var kernels []Kernel
	for p.pos < len(p.toks) {
		switch t := p.toks[p.pos]; t.Text {
		case "{":
			p.scopes = append(p.scopes, scopeOf(p.toks[p.start:p.pos]))
			p.pos++
			p.start = p.pos
		case "}":
			if n := len(p.scopes); n > 0 {
				p.scopes = p.scopes[:n-1]
			}
			p.pos++
			p.start = p.pos
		case ";":
			p.pos++
			p.start = p.pos
		case "__global__":
			k, found, err := p.kernel()
			if err != nil {
				return nil, err
			}
			if k.Instantiation != nil {
				k, err = instantiated(kernels, k)
			}
			if err != nil {
				return nil, err
			}
			if found {
				kernels = append(kernels, k)
			}
		default:
			p.pos++
		}
	}
	return kernels, nil
}

// scopeOf returns the scope for the declaration before an open brace.
func scopeOf(head []cudalex.Piece) scope {
	if len(head) == 2 && head[0].Text == "extern" && head[1].Text == `"C"` {
		return scope{externC: true}
	}
	if len(head) > 0 && head[0].Text == "inline" {
		head = head[1:]
	}
	if len(head) > 1 && head[0].Text == "namespace" {
		var name strings.Builder
		for _, t := range head[1:] {
			if t.Kind == cudalex.Word || t.Text == "::" {
				name.WriteString(t.Text)
			}
		}
		return scope{namespace: name.String() + "::"}
	}
	return scope{}
}

// kernel parses a declaration from its __global__ to the end of its parameter list.
func (p *parser) kernel() (Kernel, bool, error) {
	var k Kernel
	head := p.toks[p.start:p.pos]
	for i, t := range head {
		k.ExternC = k.ExternC || t.Text == "extern" && i+1 < len(head) && head[i+1].Text == `"C"`
	}
	for _, s := range p.scopes {
		k.ExternC = k.ExternC || s.externC
		k.Name += s.namespace
	}
	kind, begin := ordinary, p.start
	if i := slices.IndexFunc(head, func(t cudalex.Piece) bool { return t.Text == "template" }); i >= 0 {
		begin += i
		kind, k.parameters = p.template(begin)
	}
	line, global := p.toks[p.pos].Line, p.pos
	for p.pos++; p.pos < len(p.toks); p.pos++ {
		t := p.toks[p.pos]
		k.ExternC = k.ExternC || t.Text == "extern" && p.at(p.pos+1) == `"C"`
		switch {
		case t.Text == "[[":
			p.pos = p.closing(p.pos) - 1
		case t.Text == ";" || t.Text == "{" || t.Text == "}":
			return k, false, nil // not a function; the compiler will report it
		case t.Kind == cudalex.Word && p.at(p.pos+1) == "(" && isAttribute(t.Text):
			p.pos = p.closing(p.pos+1) - 1
		case t.Kind == cudalex.Word && (p.at(p.pos+1) == "(" || p.at(p.pos+1) == "<"):
			if p.returnsValue(global) {
				return k, false, &cudalex.Error{Line: t.Line,
					Msg: "a __global__ function returns void: give " + t.Text + " a pointer to write to"}
			}
			k.Line = t.Line
			name := t.Text
			for i := p.pos; i > global+2 && p.at(i-1) == "::" && p.toks[i-2].Kind == cudalex.Word; i -= 2 {
				name = p.at(i-2) + "::" + name
			}
			k.Name += name
			open := p.pos + 1
			if p.at(open) == "<" {
				arguments := open
				open = min(p.closing(open), len(p.toks))
				k.Name += render(p.toks[arguments:open])
			}
			end := p.closing(open)
			if p.at(open) != "(" || end > len(p.toks) {
				return k, false, &cudalex.Error{Line: t.Line, Msg: "the parameters of " + t.Text + " are not closed"}
			}
			k.Template = kind == template
			k.Params = params(p.toks[open+1 : end-1])
			p.pos = end
			if kind == instantiation && p.at(end) == ";" {
				k.Instantiation = p.toks[begin : end+1]
				return k, true, nil
			}
			return k, p.at(end) == "{", nil
		}
	}
	return k, false, &cudalex.Error{Line: line, Msg: "__global__ without a function"}
}

// returnsValue reports whether the words around the __global__ at a token, up to the function's
// name, name a type that is not void. It only knows the types of the language, because any other
// name may be a macro.
func (p *parser) returnsValue(global int) bool {
	value := false
	for _, t := range p.toks[max(p.start, global-1):p.pos] {
		switch t.Text {
		case "void":
			return false
		case "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double":
			value = true
		}
	}
	return value
}

// at returns the text of token i, or "" past the end.
func (p *parser) at(i int) string {
	if i < len(p.toks) {
		return p.toks[i].Text
	}
	return ""
}

// closing returns the index after the bracket that closes the one at open, or the number of tokens
// + 1.
func (p *parser) closing(open int) int {
	var n nest
	for i := open; i < len(p.toks); i++ {
		if n.step(p.toks[i], p.at(open) == "<"); len(n) == 0 {
			return i + 1
		}
	}
	return len(p.toks) + 1
}

// nest is the stack of open brackets. An angle is a bracket where a type is expected, except in
// parentheses that are inside angles: there it is a comparison.
type nest []byte

func (n *nest) step(t cudalex.Piece, angles bool) {
	if t.Kind != cudalex.Punct {
		return
	}
	inAngle := len(*n) == 0 || (*n)[len(*n)-1] == '<'
	for _, c := range []byte(t.Text) {
		switch c {
		case '(', '[', '{':
			*n = append(*n, c)
		case ')', ']', '}':
			for len(*n) > 0 && (*n)[len(*n)-1] == '<' {
				n.pop()
			}
			n.pop()
		case '<':
			if angles && inAngle {
				*n = append(*n, c)
			}
		case '>':
			if angles && inAngle && t.Text == ">" {
				n.pop()
			}
		}
	}
}

func (n *nest) pop() {
	if len(*n) > 0 {
		*n = (*n)[:len(*n)-1]
	}
}

func isAttribute(name string) bool {
	return name == "alignas" || len(name) > 4 && strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}
