package expression

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/internal/spelling"
)

// The limits of a formula.
const (
	MaxOperands = 16
	maxText     = 4096 // bytes
	maxDepth    = 100  // of nesting
)

// Error is a fault of a formula.
type Error struct {
	At   int // the byte offset of the fault in the text
	Msg  string
	Hint string // "" for none
}

func (e *Error) Error() string { return fmt.Sprintf("character %d: %s", e.At+1, e.Msg) }

// Tree is a formula that was parsed.
type Tree struct {
	Text     string
	Operands int // how many operands it needs: one more than the highest number
	root     *node
	reduces  *node // the call of a reduction, nil if there is none
}

// Reduces reports whether the formula has a reduction.
func (t *Tree) Reduces() bool { return t.reduces != nil }

// node is a part of a formula.
type node struct {
	at    int
	kind  kind
	op    string // of an operator: its sign; of a name and of a function: its name
	index int    // of an operand
	float float64
	whole uint64
	args  []*node
}

type kind uint8

const (
	integer kind = iota
	float
	operand
	name
	unary
	binary
	choice // ?:
	call
	reduction
)

// names are the words for values, with their meaning.
var names = map[string]string{
	"rank": "this rank", "size": "the number of ranks", "i": "the number of the element", "n": "the number of elements",
	"pi": "3.14…", "inf": "infinity", "nan": "no number", "true": "1", "false": "0",
}

// Parse reads a formula. A fault is an *Error.
func Parse(text string) (t *Tree, err error) {
	defer func() {
		if fault, ok := recover().(*Error); ok {
			t, err = nil, fault
		}
	}()
	if len(text) > maxText {
		return nil, &Error{At: maxText, Msg: fmt.Sprintf("a formula has at most %d characters", maxText)}
	}
	p := &parser{text: text, tree: &Tree{Text: text}}
	p.next()
	if p.tok == "" {
		p.fail(p.at, `write one such as "x0*2 + x1"`, "the formula is empty")
	}
	p.tree.root = p.expression()
	if p.tok != "" {
		p.unexpected("the end")
	}
	return p.tree, nil
}

// parser reads one formula. A fault is a panic with an *Error.
type parser struct {
	text  string
	end   int    // of the token
	at    int    // where the token begins
	tok   string // "" at the end
	tree  *Tree
	depth int
}

func (p *parser) fail(at int, hint, format string, args ...any) {
	panic(&Error{At: at, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

func (p *parser) unexpected(wanted string) {
	if p.tok == "" {
		p.fail(p.at, "", "the formula ends where %s is expected", wanted)
	}
	p.fail(p.at, "", "%q stands where %s is expected", p.tok, wanted)
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// next reads a token.
func (p *parser) next() {
	for p.end < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.end]) >= 0 {
		p.end++
	}
	p.at = p.end
	rest := p.text[p.at:]
	n := 0
	switch {
	case rest == "":
	case letter(rest[0]):
		for n < len(rest) && (letter(rest[n]) || digit(rest[n])) {
			n++
		}
	case digit(rest[0]) || rest[0] == '.':
		for n < len(rest) && (letter(rest[n]) || digit(rest[n]) || rest[n] == '.' || n > 0 &&
			(rest[n] == '+' || rest[n] == '-') && exponent(rest[:n])) {
			n++
		}
	default:
		for _, sign := range []string{"||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "?", ":", "|", "^", "&", "<", ">", "+", "-",
			"*", "/", "%", "!", "~", "(", ")", ","} {
			if strings.HasPrefix(rest, sign) {
				n = len(sign)
				break
			}
		}
		if n == 0 {
			c, _ := utf8.DecodeRuneInString(rest)
			p.fail(p.at, "", "%q has no meaning in a formula", c)
		}
	}
	p.end, p.tok = p.at+n, rest[:n]
	if strings.HasPrefix(rest, "**") {
		p.fail(p.at, "write pow(a, b)", "** is no operator")
	}
}

// exponent reports whether a number ends in the e of a decimal exponent.
func exponent(s string) bool {
	c := s[len(s)-1]
	return (c == 'e' || c == 'E') && !strings.HasPrefix(s, "0x") && !strings.HasPrefix(s, "0X") || (c == 'p' || c == 'P')
}

func (p *parser) accept(tok string) bool {
	if p.tok != tok || tok == "" {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(tok string) {
	if !p.accept(tok) {
		p.unexpected(strconv.Quote(tok))
	}
}

func (p *parser) expression() *node {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.at, "", "the formula is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	n := p.operators(1)
	at := p.at
	if !p.accept("?") {
		return n
	}
	yes := p.expression()
	p.expect(":")
	return &node{at: at, kind: choice, args: []*node{n, yes, p.expression()}}
}

// levels are the precedences of binary operators, as in Go.
var levels = map[string]int{
	"||": 1, "&&": 2,
	"==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3,
	"+": 4, "-": 4, "|": 4, "^": 4,
	"*": 5, "/": 5, "%": 5, "<<": 5, ">>": 5, "&": 5,
}

func (p *parser) operators(level int) *node {
	if level > 5 {
		return p.unary()
	}
	n := p.operators(level + 1)
	for depth := p.depth; levels[p.tok] == level; {
		if depth++; depth > maxDepth { // a chain of operators makes a tree as deep as the chain is long
			p.fail(p.at, "set parentheses, or calculate in two steps", "more than %d operators follow each other", maxDepth)
		}
		op, at := p.tok, p.at
		p.next()
		n = &node{at: at, kind: binary, op: op, args: []*node{n, p.operators(level + 1)}}
	}
	return n
}

func (p *parser) unary() *node {
	op, at := p.tok, p.at
	switch op {
	case "-", "+", "!", "~":
		if p.depth++; p.depth > maxDepth {
			p.fail(p.at, "", "the formula is nested more than %d deep", maxDepth)
		}
		defer func() { p.depth-- }()
		p.next()
		return &node{at: at, kind: unary, op: op, args: []*node{p.unary()}}
	}
	return p.primary()
}

func (p *parser) primary() *node {
	tok, at := p.tok, p.at
	switch {
	case tok == "(":
		p.next()
		n := p.expression()
		p.expect(")")
		return n
	case tok == "":
		p.unexpected("a value")
	case digit(tok[0]) || tok[0] == '.':
		p.next()
		return p.number(tok, at)
	case letter(tok[0]):
		p.next()
		if p.tok == "(" {
			return p.call(tok, at)
		}
		return p.named(tok, at)
	}
	p.unexpected("a value")
	return nil
}

func (p *parser) number(tok string, at int) *node {
	if u, err := strconv.ParseUint(tok, 0, 64); err == nil && !strings.Contains(tok, "_") {
		return &node{at: at, kind: integer, whole: u}
	}
	f, err := strconv.ParseFloat(tok, 64)
	if err != nil || strings.Contains(tok, "_") {
		p.fail(at, "", "%q is not a number", tok)
	}
	if digits := strings.TrimLeft(tok, "0123456789"); digits == "" {
		p.fail(at, "", "%s is larger than the largest integer", tok)
	}
	return &node{at: at, kind: float, float: f}
}

func (p *parser) named(word string, at int) *node {
	if digits, ok := strings.CutPrefix(word, "x"); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
		i, err := strconv.Atoi(digits)
		if err != nil || i >= MaxOperands || strconv.Itoa(i) != digits {
			p.fail(at, "", "%s is no operand: they are x0 to x%d", word, MaxOperands-1)
		}
		p.tree.Operands = max(p.tree.Operands, i+1)
		return &node{at: at, kind: operand, index: i}
	}
	switch word {
	case "pi":
		return &node{at: at, kind: float, float: math.Pi}
	case "inf":
		return &node{at: at, kind: float, float: math.Inf(1)}
	case "nan":
		return &node{at: at, kind: float, float: math.NaN()}
	}
	if names[word] == "" {
		if functions[word].most > 0 || reductions[word] != nil {
			p.fail(at, "write "+word+"(…)", "%s is a function", word)
		}
		if word == "x" {
			p.fail(at, "operands are x0, x1, … by their position", "x is not known")
		}
		p.fail(at, suggestion(word, true), "%s is not known", word)
	}
	return &node{at: at, kind: name, op: word}
}

// suggestion returns a name that is spelled like word.
func suggestion(word string, values bool) string {
	var all []string
	for f := range functions {
		all = append(all, f)
	}
	for r := range reductions {
		all = append(all, r)
	}
	if values {
		for v := range names {
			all = append(all, v)
		}
	}
	if like := spelling.Similar(word, all); len(like) > 0 {
		return "did you mean " + strings.Join(like, " or ") + "?"
	}
	if values {
		return "operands are x0, x1, … by their position"
	}
	return ""
}

func (p *parser) call(word string, at int) *node {
	f, elementwise := functions[word]
	r := reductions[word]
	if !elementwise && r == nil {
		p.fail(at, suggestion(word, false), "there is no function %s", word)
	}
	p.next()
	n := &node{at: at, kind: call, op: word}
	for p.tok != ")" || len(n.args) > 0 {
		n.args = append(n.args, p.expression())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if r != nil && len(n.args) == 1 { // max(a) reduces, max(a, b) does not
		if p.tree.reduces != nil {
			p.fail(at, "reduce twice, by two calls", "a formula has one reduction, and this is another one")
		}
		n.kind, p.tree.reduces = reduction, n
		return n
	}
	least, most := f.least, f.most
	if !elementwise {
		least, most = 1, 1
	}
	if len(n.args) < least || len(n.args) > most {
		p.fail(at, "", "%s has %s, not %d", word, count.Of(least, "argument"), len(n.args))
	}
	return n
}
