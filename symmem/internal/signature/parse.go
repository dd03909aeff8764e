package signature

import "strings"

// Kernel is one __global__ function with a body.
type Kernel struct {
	Name     string // qualified by its namespaces: "scale", "mine::scale"
	Params   []Param
	Line     int  // of the name, 1-based
	ExternC  bool // declared extern "C", alone or in a block
	Template bool // a template or a specialisation: it has no name to launch it by
}

// Param is one parameter. Arrays have decayed to pointers and default arguments are gone.
type Param struct {
	Name string // empty when the text gives none
	Type string // in canonical spacing: "const float* __restrict__"
}

// String is the signature as a launch sees it: "scale(float* x, int n)".
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

// String is "float* x".
func (p Param) String() string {
	if p.Name == "" {
		return p.Type
	}
	return p.Type + " " + p.Name
}

// Parse returns the kernels of a CUDA C++ text in the order of the text. Declarations without a body are not kernels.
// An error is an *Error.
func Parse(src string) ([]Kernel, error) {
	toks, err := scan(src)
	if err != nil {
		return nil, err
	}
	p := parser{toks: toks}
	return p.file()
}

// scope is what an open brace stands for.
type scope struct {
	externC   bool
	namespace string // with its trailing "::"; empty for any other brace
}

type parser struct {
	toks   []token
	pos    int
	start  int // where the current declaration began
	scopes []scope
}

func (p *parser) file() ([]Kernel, error) {
	var kernels []Kernel
	for p.pos < len(p.toks) {
		switch t := p.toks[p.pos]; t.text {
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
			if found {
				kernels = append(kernels, k)
			}
		default:
			p.pos++
		}
	}
	return kernels, nil
}

// scopeOf reads the declaration before an open brace.
func scopeOf(head []token) scope {
	if len(head) == 2 && head[0].text == "extern" && head[1].text == `"C"` {
		return scope{externC: true}
	}
	if len(head) > 0 && head[0].text == "inline" {
		head = head[1:]
	}
	if len(head) > 1 && head[0].text == "namespace" {
		var name strings.Builder
		for _, t := range head[1:] {
			if t.kind == word || t.text == "::" {
				name.WriteString(t.text)
			}
		}
		return scope{namespace: name.String() + "::"}
	}
	return scope{}
}

// kernel reads a declaration from its __global__ up to the end of its parameter list.
func (p *parser) kernel() (Kernel, bool, error) {
	var k Kernel
	head := p.toks[p.start:p.pos]
	for i, t := range head {
		k.Template = k.Template || t.text == "template"
		k.ExternC = k.ExternC || t.text == "extern" && i+1 < len(head) && head[i+1].text == `"C"`
	}
	for _, s := range p.scopes {
		k.ExternC = k.ExternC || s.externC
		k.Name += s.namespace
	}
	line := p.toks[p.pos].line
	for p.pos++; p.pos < len(p.toks); p.pos++ {
		t := p.toks[p.pos]
		k.Template = k.Template || t.text == "template"
		k.ExternC = k.ExternC || t.text == "extern" && p.at(p.pos+1) == `"C"`
		switch {
		case t.text == "[[":
			p.pos = p.closing(p.pos) - 1
		case t.text == ";" || t.text == "{" || t.text == "}":
			return k, false, nil // not a function; the compiler will say so
		case t.kind == word && p.at(p.pos+1) == "(" && isAttribute(t.text):
			p.pos = p.closing(p.pos+1) - 1
		case t.kind == word && (p.at(p.pos+1) == "(" || p.at(p.pos+1) == "<"):
			k.Line = t.line
			k.Name += t.text
			open := p.pos + 1
			if p.at(open) == "<" {
				k.Template = true
				open = p.closing(open)
			}
			end := p.closing(open)
			if p.at(open) != "(" || end > len(p.toks) {
				return k, false, &Error{Line: t.line, Msg: "the parameters of " + t.text + " are not closed"}
			}
			k.Params = params(p.toks[open+1 : end-1])
			p.pos = end
			return k, p.at(end) == "{", nil
		}
	}
	return k, false, &Error{Line: line, Msg: "__global__ without a function"}
}

// at returns the text of token i, or nothing past the end.
func (p *parser) at(i int) string {
	if i < len(p.toks) {
		return p.toks[i].text
	}
	return ""
}

// closing returns the index after the bracket that closes the one at open, or one more than there are tokens.
func (p *parser) closing(open int) int {
	var n nest
	for i := open; i < len(p.toks); i++ {
		if n.step(p.toks[i], p.at(open) == "<"); len(n) == 0 {
			return i + 1
		}
	}
	return len(p.toks) + 1
}

// nest is the stack of open brackets. An angle is a bracket where a type is expected, which is not inside
// parentheses that are themselves inside angles: there it compares.
type nest []byte

func (n *nest) step(t token, angles bool) {
	if t.kind != punct {
		return
	}
	inAngle := len(*n) == 0 || (*n)[len(*n)-1] == '<'
	for _, c := range []byte(t.text) {
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
			if angles && inAngle && t.text == ">" {
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
