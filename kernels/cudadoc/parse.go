package cudadoc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// parser reads one scope of one text: a file, the body of a namespace or type, or what a macro
// expands to.
type parser struct {
	reader *Reader
	file   *File
	text   string
	pieces []cudalex.Piece
	at     int
	depth  int
	left   *int // bytes that macros may still expand to
	groups *int // how many there are so far
	out    *[]Decl

	path   string // of the scope: "symm::Handle::"
	class  string // the name of the type whose members these are, or ""
	hidden bool   // behind private:
	line   int    // of the macro's use, in an expansion

	above  []string   // the comment above
	own    bool       // nothing stands between it and the place
	shared string     // the comment of the declarations directly before
	group  int        // of the declarations here
	begun  *statement // what a macro left unfinished: the head of a declaration
}

// apart begins a new group of declarations.
func (p *parser) apart() {
	p.above, p.own, p.shared = nil, false, ""
	*p.groups++
	p.group = *p.groups
}

// scope reads declarations up to the brace that closes the scope, which it passes, or to the end.
func (p *parser) scope() {
	blank := false // the line has no code so far
	for p.at < len(p.pieces) {
		piece := p.pieces[p.at]
		switch {
		case piece.Kind == cudalex.Space:
			if piece.Text == "\n" {
				if blank {
					p.apart()
				}
				blank = true
			}
			p.at++
			continue
		case piece.Kind == cudalex.Comment:
			if !p.own && (blank || p.line != 0) { // in an expansion every comment begins a group
				p.apart()
			}
			p.above, p.own = append(p.above, comment(piece.Text)), true
			p.at++
		case piece.Kind == cudalex.Directive:
			p.directive(piece)
			p.at++
		case piece.Kind == cudalex.Excluded, piece.Text == ";":
			p.at++
		case piece.Text == "}":
			p.at++
			return
		case p.label(), p.macroCall():
		default:
			p.declaration()
		}
		blank = false
	}
}

// directive notes a definition, an included header, or the comment of the file.
func (p *parser) directive(piece cudalex.Piece) {
	name, rest := directive(piece)
	switch name {
	case "pragma":
		if strings.HasPrefix(rest, "once") {
			p.file.Text = strings.Join(p.above, "\n")
			p.apart()
		}
	case "include":
		p.file.Includes = append(p.file.Includes, strings.Trim(rest, "<>\" \t\r"))
	case "undef":
		delete(p.reader.macros, strings.TrimSpace(rest))
	case "define":
		m, name, ok := define(piece)
		if !ok {
			return
		}
		code := name
		if m.function {
			code += "(" + strings.ReplaceAll(strings.Join(m.params, ", "), "__VA_ARGS__", "...") + ")"
		}
		d := p.commented(Decl{Name: name, Kind: Macro, Code: "#define " + code}, piece)
		m.text = d.Text
		p.reader.macros[name] = m
		if p.class == "" {
			*p.out = append(*p.out, d)
		}
	}
}

// commented adds the comment above to a declaration.
func (p *parser) commented(d Decl, piece cudalex.Piece) Decl {
	if d.Own = p.own; d.Own {
		p.shared = strings.Join(p.above, "\n")
	}
	p.above, p.own = nil, false
	d.Text, d.Group, d.Line = p.shared, p.group, piece.Line
	if p.line != 0 {
		d.Line = p.line
	}
	return d
}

// label passes public:, private: and protected:.
func (p *parser) label() bool {
	word := p.pieces[p.at].Text
	if p.class == "" || word != "public" && word != "private" && word != "protected" || p.next(p.at+1) != ":" {
		return false
	}
	p.hidden = word != "public"
	for p.pieces[p.at].Text != ":" {
		p.at++
	}
	p.at++
	p.apart()
	return true
}

// next returns the text of the next piece of code from a place on.
func (p *parser) next(at int) string {
	for ; at < len(p.pieces); at++ {
		if p.pieces[at].Kind <= cudalex.Punct {
			return p.pieces[at].Text
		}
	}
	return ""
}

// macroCall reads what a macro expands to that is called with arguments in place of a declaration.
func (p *parser) macroCall() bool {
	piece := p.pieces[p.at]
	m := p.reader.macros[piece.Text]
	if m == nil || !m.function || piece.Kind != cudalex.Word || p.next(p.at+1) != "(" {
		return false
	}
	args, end := p.arguments(p.at + 1)
	p.at = end
	above, own := p.above, p.own
	d := p.commented(Decl{}, piece)
	if d.Text == "" {
		d.Text = m.text
	}
	if p.depth >= maxDepth || *p.left <= 0 {
		return true
	}
	body := m.expand(args)
	*p.left -= len(body) + 1
	inner := *p
	inner.text, inner.pieces, inner.at = body, cudalex.Pieces(body, p.reader.known), 0
	inner.depth, inner.line, inner.shared = p.depth+1, d.Line, d.Text
	inner.scope()
	if p.begun = inner.begun; p.begun != nil { // the comment is that of the declaration
		p.above, p.own = above, own
	}
	return true
}

// arguments returns the arguments of a macro, from the parenthesis on, and the place behind them.
func (p *parser) arguments(at int) (args []string, end int) {
	depth := 0
	var b strings.Builder
	for ; at < len(p.pieces); at++ {
		piece := p.pieces[at]
		switch {
		case piece.Kind > cudalex.Punct:
			if depth > 0 {
				b.WriteByte(' ')
			}
			continue
		case piece.Text == "(":
			if depth++; depth == 1 {
				continue
			}
		case piece.Text == ")":
			if depth--; depth == 0 {
				return append(args, strings.TrimSpace(b.String())), at + 1
			}
		case piece.Text == "," && depth == 1:
			args = append(args, strings.TrimSpace(b.String()))
			b.Reset()
			continue
		}
		b.WriteString(piece.Text)
	}
	return args, at
}

// declaration reads one declaration.
func (p *parser) declaration() {
	first := p.pieces[p.at]
	s := p.statement()
	if s.end == "" && p.line != 0 && p.at == len(p.pieces) && len(s.tokens) > 0 {
		p.begun = s
		return
	}
	if s.words(0) == "namespace" || s.is("inline", "namespace") {
		p.namespace(s)
		return
	}
	if len(s.tokens) == 2 && s.is("extern", `"C"`) && s.end == "{" {
		p.within(p.path, "").scope()
		return
	}
	s.drop(p.reader)
	switch {
	case len(s.tokens) == 0 && s.end == "{":
		p.skipBody()
		p.commented(Decl{}, first)
	case s.isType() && s.end == "{":
		p.typeDecl(s, first)
	default:
		if s.end == "{" {
			p.skipBody()
		}
		p.simple(s, first)
	}
}

// namespace reads the members of a namespace.
func (p *parser) namespace(s *statement) {
	if s.end != "{" { // an alias
		return
	}
	name := s.tokens[len(s.tokens)-1].text
	path := p.path
	if name != "namespace" {
		path += name + "::"
	}
	p.apart()
	p.within(path, "").scope()
	p.apart()
}

// within returns the parser, which continues in an inner scope.
func (p *parser) within(path, class string) *scopeOf {
	return &scopeOf{p, path, class}
}

// scopeOf is a scope inside of a parser's.
type scopeOf struct {
	p           *parser
	path, class string
}

func (s *scopeOf) scope() {
	p := s.p
	if p.depth >= maxDepth {
		p.skipBody()
		return
	}
	path, class, hidden := p.path, p.class, p.hidden
	p.path, p.class, p.hidden = s.path, s.class, s.class != "" && p.hidden
	p.depth++
	p.scope()
	p.depth--
	p.path, p.class, p.hidden = path, class, hidden
}

// skipBody passes the rest of a body, whose first brace has been passed.
func (p *parser) skipBody() {
	for depth := 1; p.at < len(p.pieces) && depth > 0; p.at++ {
		if p.pieces[p.at].Kind != cudalex.Punct {
			continue
		}
		switch p.pieces[p.at].Text {
		case "{":
			depth++
		case "}":
			depth--
		}
	}
}

// trailing returns the comment at the end of the line, which it passes.
func (p *parser) trailing() string {
	for at := p.at; at < len(p.pieces); at++ {
		switch piece := p.pieces[at]; {
		case piece.Kind == cudalex.Space && piece.Text != "\n", piece.Text == ";":
		case piece.Kind == cudalex.Comment && p.line == 0:
			p.at = at + 1
			return comment(piece.Text)
		default:
			return ""
		}
	}
	return ""
}

// keys are the words that begin the declaration of a type.
var keys = []string{"struct", "class", "union", "enum"}

// unnamed stands for the name of a type that gets its name behind its body.
const unnamed = "?"

// typeDecl reads a type with its members.
func (p *parser) typeDecl(s *statement, first cudalex.Piece) {
	d := p.commented(Decl{Kind: Type}, first)
	name, bases := s.typeName()
	d.Bases = bases
	head := s.code()
	begin := p.at
	if s.has("enum") {
		p.skipBody()
		d.Members = p.enumerators(begin, name)
	} else {
		members := []Decl{}
		out, hidden, shared, group := p.out, p.hidden, p.shared, p.group
		p.out, p.hidden = &members, s.has("class")
		p.apart()
		p.within(p.path+name+"::", cmp.Or(name, unnamed)).scope()
		p.above, p.own = nil, false
		p.out, p.hidden, p.shared, p.group, d.Members = out, hidden, shared, group, members
	}
	end := p.at
	behind := p.statement() // the names of a typedef, or nothing
	if name == "" && len(behind.tokens) > 0 {
		name = behind.tokens[0].text
		for i, m := range d.Members {
			d.Members[i].Name = p.path + name + "::" + strings.TrimPrefix(m.Name, p.path+"::")
		}
	}
	if name == "" || s.specialised(name) || p.hidden {
		return
	}
	d.Name = p.path + name
	if s.has("enum") {
		d.Code = strings.TrimSpace(head + " {" + p.source(begin, end) + " " + behind.code())
		if d.Code = strings.TrimRight(d.Code, " ;") + ";"; !strings.Contains(d.Code, "//") {
			d.Code = strings.Join(strings.Fields(d.Code), " ")
		}
	} else {
		d.Code = typeCode(head, d.Members)
	}
	if t := p.trailing(); t != "" && !d.Own {
		d.Text, d.Own = t, true
	}
	d.Members = slices.DeleteFunc(d.Members, func(m Decl) bool { return m.Name == "" })
	*p.out = append(*p.out, d)
}

// source returns the text between two places.
func (p *parser) source(begin, end int) string {
	if begin >= end || begin >= len(p.pieces) {
		return ""
	}
	last := p.pieces[end-1]
	return p.text[p.pieces[begin].At : last.At+len(last.Text)]
}

// enumerators returns the names between two places, of an enumeration that ends before p.at.
func (p *parser) enumerators(begin int, enum string) (list []Decl) {
	fresh, depth := true, 0
	for _, piece := range p.pieces[begin:min(p.at, len(p.pieces))] {
		switch {
		case piece.Kind > cudalex.Punct:
		case piece.Text == "(":
			depth++
		case piece.Text == ")":
			depth--
		case piece.Text == ",":
			fresh = depth == 0
		case fresh && piece.Kind == cudalex.Word:
			list = append(list, Decl{Name: p.path + piece.Text, Kind: Constant, Code: piece.Text, Line: piece.Line, Gives: enum})
			fresh = false
		}
	}
	return list
}

// typeCode returns a type with its public members, each on its line.
func typeCode(head string, members []Decl) string {
	var b strings.Builder
	b.WriteString(head + " {\n")
	lines := 0
	for i, m := range members {
		if i > 0 && m.Kind == Field && m.Line == members[i-1].Line && m.Code == members[i-1].Code {
			continue // another name of the same declaration
		}
		if m.Own {
			for line := range strings.SplitSeq(m.Text, "\n") {
				b.WriteString("  // " + line + "\n")
			}
		}
		b.WriteString("  " + strings.ReplaceAll(m.Code, "\n", "\n  ") + "\n")
		lines++
	}
	b.WriteString("};")
	if code := b.String(); lines <= 3 && len(code) < 100 && !strings.Contains(code, "//") {
		return strings.Join(strings.Fields(code), " ")
	}
	return b.String()
}

// simple keeps a function, a constant, an alias or a field.
func (p *parser) simple(s *statement, first cudalex.Piece) {
	d := p.commented(Decl{}, first)
	trailing := p.trailing()
	if p.hidden || len(s.tokens) == 0 {
		return
	}
	switch s.words(0) {
	case "static_assert", "friend", "asm", "extern", "export":
		return
	case "using", "typedef":
		if !p.alias(s, &d) {
			return
		}
	default:
		switch open := s.parameters(); {
		case s.has("operator"):
			if p.class == "" {
				return
			}
			d.Kind = Function // shown with its type, but without a name to look up
		case open > 0:
			if !p.function(s, &d, open) {
				return
			}
		case p.class != "" && !(s.isType() && len(s.tokens) == 2):
			p.fields(s, d, trailing)
			return
		case s.has("constexpr"):
			if d.Kind, d.Name = Constant, s.variable(); d.Name == "" {
				return
			}
			d.Gives = s.before(d.Name)
		default:
			return
		}
	}
	if d.Code == "" {
		d.Code = s.code()
	}
	if p.class != "" {
		d.Code += ";"
	}
	if trailing != "" && !d.Own {
		d.Text, d.Own = trailing, true
	}
	if d.Name != "" {
		d.Name = p.path + d.Name
	}
	*p.out = append(*p.out, d)
}

// alias reads using NAME = TYPE, or typedef TYPE NAME.
func (p *parser) alias(s *statement, d *Decl) bool {
	d.Kind = Type
	if s.words(0) == "using" {
		if len(s.tokens) < 4 || s.tokens[2].text != "=" {
			return false
		}
		d.Name = s.tokens[1].text
		d.Bases = []string{s.from(3)}
		return true
	}
	last := len(s.tokens) - 1
	if last < 2 || s.tokens[last].kind != cudalex.Word {
		return false
	}
	d.Name = s.tokens[last].text
	d.Bases = []string{join(s.tokens[1:last])}
	return true
}

// function reads a function, whose parameters begin at a token. It reports whether it is one.
func (p *parser) function(s *statement, d *Decl, open int) bool {
	name := s.tokens[open-1]
	if name.kind != cudalex.Word || s.deleted() || open > 1 && s.tokens[open-2].text == "~" {
		return false
	}
	d.Kind, d.Name = Function, name.text
	if open > 1 && s.tokens[open-2].text == "::" { // defined outside of its type
		return false
	}
	d.Gives = s.before(name.text)
	if name.text == p.class { // a constructor is found by the name of its type
		d.Name = ""
	}
	return true
}

// fields keeps the names that one declaration of fields has.
func (p *parser) fields(s *statement, d Decl, trailing string) {
	names := s.names()
	if len(names) == 0 {
		return
	}
	d.Code, d.Kind, d.Gives = s.code()+";", Field, s.before(names[0])
	if trailing != "" {
		d.Code += "  // " + trailing
		if !d.Own {
			d.Text = trailing
		}
	}
	for i, name := range names {
		d.Name = p.path + name
		if i > 0 { // the code stands with the first
			d.Own = false
		}
		*p.out = append(*p.out, d)
	}
}
