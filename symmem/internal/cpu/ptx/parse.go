package ptx

import (
	"fmt"
	"strings"
)

// template is a parsed template: its items in order.
type template struct{ items []item }

// item is one of: an instruction, the declaration of registers, a label, and "{" or "}".
type item struct {
	open, close bool
	label       string
	declares    *declaration
	instruction *instruction
}

type declaration struct {
	kind  string // "u32", "pred"
	names []name
}

type name struct {
	text  string
	count int // of NAME<count>; -1 for one register
}

// instruction is `@guard op.modifiers operands;`.
type instruction struct {
	guard     string // a predicate; empty if there is none
	unless    bool   // @!guard
	op        string
	modifiers []string
	operands  []operand
}

func (i *instruction) String() string {
	return strings.Join(append([]string{i.op}, i.modifiers...), ".")
}

// operand is an operand, or one half of a pair a|b.
type operand struct {
	name    string    // of a register: "%0", "t", "%laneid", "_"
	number  string    // or an immediate value, as written
	negated bool      // !name, or -number
	address *address  // or [address]
	vector  []operand // or {a, b}
	second  *operand  // of a pair
}

type address struct {
	base operand  // a register or an immediate value
	by   *operand // the offset; nil for none
}

// parser splits a template into tokens and parses them.
type parser struct {
	text   string
	pos    int
	token  string // the current one; empty at the end
	depth  int
	failed error
}

// fail ends parsing; the first failure counts.
func (p *parser) fail(format string, args ...any) {
	if p.failed == nil {
		p.failed = fmt.Errorf(format, args...)
		p.token, p.pos = "", len(p.text)
	}
}

// parse reads a template.
func parse(text string) (template, error) {
	p := &parser{text: strings.ReplaceAll(text, "%=", "")}
	p.next()
	var t template
	for p.token != "" {
		if i, ok := p.item(); ok {
			t.items = append(t.items, i)
		}
	}
	if p.failed == nil && p.depth > 0 {
		p.fail("a { is not closed")
	}
	return t, p.failed
}

// next reads the next token: a word with its dots and "::", a number, or one character.
func (p *parser) next() {
	for p.pos < len(p.text) {
		rest := p.text[p.pos:]
		switch {
		case strings.IndexByte(" \t\r\n\f\x00", rest[0]) >= 0:
			p.pos++
			continue
		case strings.HasPrefix(rest, "//"):
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				p.pos += n
			} else {
				p.pos = len(p.text)
			}
			continue
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				p.fail("a comment is not closed")
				return
			}
			p.pos += n + 4
			continue
		}
		n := 0
		if c := rest[0]; isWord(c) || c == '%' || c == '.' && len(rest) > 1 && isWord(rest[1]) {
			n = wordLen(rest)
		} else {
			n = 1
		}
		p.token = rest[:n]
		p.pos += n
		return
	}
	p.token = ""
}

// wordLen measures "ld.global.L1::no_allocate.u32", "%0", "%%tid.x", ".reg", "0f3f800000", "1.5e-3".
func wordLen(s string) int {
	n := 1
	for n < len(s) {
		switch c := s[n]; {
		case isWord(c), c == '.' && n+1 < len(s) && isWord(s[n+1]):
		case c == '%' && n == 1 && s[0] == '%':
		case c == ':' && n+2 < len(s) && s[n+1] == ':' && isWord(s[n+2]):
			n++
		case (c == '-' || c == '+') && '0' <= s[0] && s[0] <= '9' && (s[n-1] == 'e' || s[n-1] == 'E') &&
			!strings.HasPrefix(s, "0x") && !strings.HasPrefix(s, "0f") && !strings.HasPrefix(s, "0d"):
		default:
			return n
		}
		n++
	}
	return n
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// take consumes a token if it is the current one.
func (p *parser) take(token string) bool {
	if p.token != token {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(token string) {
	if !p.take(token) {
		if p.token == "" {
			p.fail("it ends where %q is expected", token)
		} else {
			p.fail("%q stands where %q is expected", p.token, token)
		}
	}
}

// item reads one item; ok is false for an empty statement.
func (p *parser) item() (i item, ok bool) {
	switch {
	case p.take(";"):
		return item{}, false
	case p.take("{"):
		p.depth++
		return item{open: true}, true
	case p.take("}"):
		if p.depth--; p.depth < 0 {
			p.fail("a } closes nothing")
		}
		return item{close: true}, true
	case strings.HasPrefix(p.token, "."):
		return item{declares: p.declaration()}, true
	}
	i.instruction = &instruction{}
	if p.take("@") {
		i.instruction.unless = p.take("!")
		i.instruction.guard = p.word()
	}
	word := p.word()
	if i.instruction.guard == "" && p.take(":") {
		return item{label: word}, true
	}
	if why := refusal(word); why != "" {
		p.fail("%s", why)
		return i, true
	}
	parts := strings.Split(word, ".")
	i.instruction.op, i.instruction.modifiers = parts[0], parts[1:]
	for p.token != ";" && p.token != "" && p.token != "}" {
		if len(i.instruction.operands) > 0 {
			p.expect(",")
		}
		i.instruction.operands = append(i.instruction.operands, p.operand())
	}
	if p.token != "}" && p.token != "" {
		p.expect(";")
	}
	return i, true
}

func (p *parser) word() string {
	w := p.token
	if w == "" || !isWord(w[0]) && w[0] != '%' {
		p.fail("%q stands where a name is expected", w)
		return "?"
	}
	p.next()
	return w
}

// declaration reads `.reg .u32 a, b<4>;`.
func (p *parser) declaration() *declaration {
	space, kind, _ := strings.Cut(strings.TrimPrefix(p.token, "."), ".")
	if space != "reg" {
		p.fail("declarations of .%s are not supported on the cpu device: declare the variable in C++", space)
		return &declaration{}
	}
	p.next()
	if kind == "" && strings.HasPrefix(p.token, ".") {
		kind = p.token[1:]
		p.next()
	}
	d := &declaration{kind: kind}
	for {
		n := name{p.word(), -1}
		if p.take("<") {
			n.count = p.small()
			p.expect(">")
		}
		d.names = append(d.names, n)
		if !p.take(",") {
			break
		}
	}
	if p.token != "" {
		p.expect(";")
	}
	return d
}

// small reads a count.
func (p *parser) small() int {
	n := 0
	for _, c := range p.token {
		if c < '0' || c > '9' || n > 999 {
			p.fail("%q is no count of registers", p.token)
			return 0
		}
		n = 10*n + int(c-'0')
	}
	p.next()
	return n
}

const most = 8 // levels of brackets in an operand

func (p *parser) operand() operand { return p.operandIn(0) }

func (p *parser) operandIn(level int) (o operand) {
	if level > most {
		p.fail("its brackets are nested too deep")
		return
	}
	switch {
	case p.take("["):
		a := &address{base: p.operandIn(level + 1)}
		for p.token == "+" || p.token == "-" {
			sign := p.token
			p.next()
			if p.take("-") {
				sign = map[string]string{"+": "-", "-": "+"}[sign]
			}
			by := p.operandIn(level + 1)
			by.negated = sign == "-"
			if a.by != nil {
				p.fail("an address has more than one offset")
			}
			a.by = &by
		}
		p.expect("]")
		o.address = a
	case p.take("{"):
		for {
			o.vector = append(o.vector, p.operandIn(level+1))
			if !p.take(",") {
				break
			}
		}
		p.expect("}")
	case p.take("!"), p.take("-"):
		o = p.operandIn(level + 1)
		o.negated = !o.negated
	default:
		w := p.word()
		if '0' <= w[0] && w[0] <= '9' {
			o.number = w
		} else {
			o.name = w
		}
	}
	if level == 0 && p.take("|") {
		second := p.operandIn(level + 1)
		o.second = &second
	}
	return o
}
