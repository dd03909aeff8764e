package help

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/kernels/reference"
	"github.com/symmrepl/symmrepl/session"
)

// A snippet is CUDA C++ in a raw string of a cell. Its names are the names of package reference and
// its own. They are found by looking at tokens, without a compiler: types of variables by their
// declarations, types of expressions by the results of functions and the types of members.

// snippet is the text of a snippet up to the cursor.
type snippet struct {
	pieces []cudalex.Piece // all of it
	tokens []cudalex.Piece // the code
	names  map[string]string
}

func newSnippet(text string) *snippet {
	s := &snippet{pieces: cudalex.Pieces(text, nil), names: map[string]string{}}
	for _, p := range s.pieces {
		if p.Kind <= cudalex.Punct {
			s.tokens = append(s.tokens, p)
		}
	}
	for i := range s.tokens { // namespace cg = cooperative_groups;
		if s.text(i) == "namespace" && s.text(i+2) == "=" {
			s.names[s.text(i+1)] = s.text(i + 3)
		}
	}
	return s
}

// text returns a token, or "" if there is none.
func (s *snippet) text(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.tokens[i].Text
}

// isSnippet reports whether a raw string is CUDA C++: by its words, or because it is given to
// symm.Compile.
func (h *Guide) isSnippet(text, call string) bool {
	pkg, function, _ := strings.Cut(call, ".")
	if function == "Compile" && h.checker.Imports()[pkg] == check.SymmemPath {
		return true
	}
	for _, word := range []string{"__global__", "__device__", "symm::", "#include"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// completeSnippet lists the candidates for the word at the end of a snippet, and returns the word.
func completeSnippet(text string) (list []session.Candidate, word string) {
	s := newSnippet(text)
	if len(s.pieces) == 0 {
		return globals(s), ""
	}
	switch last := s.pieces[len(s.pieces)-1]; last.Kind {
	case cudalex.Directive:
		return headersFor(last.Text)
	case cudalex.Comment:
		if strings.HasPrefix(last.Text, "//") || !strings.HasSuffix(last.Text, "*/") {
			return nil, ""
		}
	case cudalex.Literal, cudalex.Number:
		return nil, ""
	case cudalex.Word:
		word = last.Text
		s.tokens = s.tokens[:len(s.tokens)-1]
	}
	switch end := len(s.tokens); s.text(end - 1) {
	case "::":
		name, _ := s.qualified(end - 1)
		if list = membersIn(name); list == nil {
			list = within(name + "::")
		}
		return list, word
	case ".", "->":
		typ, _ := s.typeBefore(end - 1)
		return membersIn(typ), word
	}
	return globals(s), word
}

// headersFor lists headers for an #include that is not complete.
func headersFor(directive string) (list []session.Candidate, word string) {
	at := strings.IndexAny(directive, "<\"")
	if at < 0 || strings.ContainsAny(directive[at+1:], ">\"") || !strings.Contains(directive[:at], "include") {
		return nil, ""
	}
	for _, f := range slices.Concat(kernels.Headers(), kernels.LibraryHeaders(), kernels.ToolkitHeaders(), kernels.CHeaders()) {
		list = append(list, session.Candidate{Name: f.Name, Kind: session.KindHeader})
	}
	return list, directive[at+1:]
}

// qualified returns the name before a "::" at a token, and where it begins.
func (s *snippet) qualified(at int) (name string, begin int) {
	begin = at
	for s.text(begin) == "::" && begin > 0 && s.tokens[begin-1].Kind == cudalex.Word {
		name = s.text(begin-1) + "::" + name
		begin -= 2
	}
	return s.resolve(strings.TrimSuffix(name, "::")), begin + 1
}

// resolve replaces the name of a namespace that the snippet defines.
func (s *snippet) resolve(name string) string {
	first, rest, more := strings.Cut(name, "::")
	if of := s.names[first]; of != "" {
		first = of
	}
	if more {
		return first + "::" + rest
	}
	return first
}

// spaces are the namespaces in which a name without one is looked for.
var spaces = []string{"", "cooperative_groups::", "cuda::"}

// findEntry returns the entry of a name or a type.
func findEntry(name string) *reference.Entry {
	for _, space := range spaces {
		if e := reference.Find(space + name); e != nil {
			return e
		}
	}
	return nil
}

// membersIn lists the members of a type.
func membersIn(typ string) (list []session.Candidate) {
	e := findEntry(reference.Plain(typ))
	if e == nil || e.Kind != "type" {
		return nil
	}
	for _, m := range reference.Members(e.Name) {
		list = append(list, session.Candidate{Name: m.Name, Kind: kindOf(m.Kind), Type: oneLine(m.Decl)})
	}
	return list
}

// within lists a namespace.
func within(space string) (list []session.Candidate) {
	for _, e := range reference.Within(space) {
		list = append(list, candidateFor(e, strings.TrimPrefix(e.Name, space)))
	}
	return list
}

func candidateFor(e *reference.Entry, name string) session.Candidate {
	return session.Candidate{Name: name, Kind: kindOf(e.Kind), Type: oneLine(e.Decls[0])}
}

func kindOf(kind string) string {
	switch kind {
	case "function":
		return "func"
	case "constant":
		return "const"
	}
	return kind
}

func oneLine(decl string) string {
	head, _, _ := strings.Cut(decl, "{")
	return strings.Join(strings.Fields(strings.TrimSuffix(head, ";")), " ")
}

// keywords are words of CUDA C++.
var keywords = strings.Fields("auto bool break case char const constexpr continue default do double else enum extern false float for if inline int long namespace " +
	"nullptr return short signed sizeof static struct switch template true typedef typename union unsigned using void volatile while")

// globals lists the names that may begin an expression or a declaration.
func globals(s *snippet) []session.Candidate {
	list := within("")
	for _, space := range []string{"symm", "cuda", "cooperative_groups"} {
		list = append(list, session.Candidate{Name: space, Kind: "namespace"})
	}
	for name := range s.names {
		list = append(list, session.Candidate{Name: name, Kind: "namespace"})
	}
	for _, word := range keywords {
		list = append(list, session.Candidate{Name: word, Kind: "keyword"})
	}
	known := map[string]bool{}
	for _, c := range list {
		known[c.Name] = true
	}
	for i, t := range s.tokens {
		own := t.Kind == cudalex.Word && !known[t.Text] && s.text(i-1) != "::" && s.text(i-1) != "." && s.text(i-1) != "->"
		if own {
			known[t.Text] = true
			list = append(list, session.Candidate{Name: t.Text, Kind: "name"})
		}
	}
	return list
}

// places have types without a declaration.
var places = map[string]string{"threadIdx": "uint3", "blockIdx": "uint3", "blockDim": "dim3", "gridDim": "dim3"}

// maxSteps bounds how far an expression is followed.
const maxSteps = 64

// typeBefore returns the type of the expression that ends before a token, and where it begins; ""
// if it is not known.
func (s *snippet) typeBefore(end int) (typ string, begin int) { return s.typeOf(end, maxSteps) }

func (s *snippet) typeOf(end, steps int) (typ string, begin int) {
	i := end - 1
	for s.text(i) == "]" {
		i = s.opening(i) - 1
	}
	called := s.text(i) == ")"
	if called {
		i = s.opening(i) - 1
		if s.text(i) == ">" {
			i = s.opening(i) - 1
		}
	}
	if steps <= 0 || i < 0 || s.tokens[i].Kind != cudalex.Word {
		return "", max(i, 0)
	}
	name := s.text(i)
	switch s.text(i - 1) {
	case ".", "->":
		of, begin := s.typeOf(i-1, steps-1)
		if e := findEntry(reference.Plain(of)); e != nil {
			m, _ := reference.MemberOf(e.Name, name)
			return m.Gives, begin
		}
		return "", begin
	case "::":
		space, begin := s.qualified(i - 1)
		return given(space+"::"+name, called), begin
	}
	if called {
		return given(name, true), i
	}
	return s.declared(name, i, steps-1), i
}

// given returns the type of a name, or of its call.
func given(name string, called bool) string {
	switch e := findEntry(name); {
	case e == nil:
		return ""
	case e.Kind == "type" && called:
		return e.Name
	default:
		return e.Gives
	}
}

// opening returns the bracket that a bracket at a token closes, or 0.
func (s *snippet) opening(at int) int {
	pairs := map[string]string{")": "(", "]": "[", ">": "<"}
	closes, opens := s.text(at), pairs[s.text(at)]
	for depth := 0; at > 0; at-- {
		switch s.text(at) {
		case closes:
			depth++
		case opens:
			if depth--; depth == 0 {
				return at
			}
		}
	}
	return 0
}

// declared returns the type with which a variable is declared before a token.
func (s *snippet) declared(name string, before, steps int) string {
	for k := min(before, len(s.tokens)) - 1; k > 0; k-- {
		if s.text(k) != name || !slices.Contains([]string{";", ",", ")", "=", "[", "(", "{", ":"}, s.text(k+1)) {
			continue
		}
		prev := s.tokens[k-1]
		if prev.Kind != cudalex.Word && !slices.Contains([]string{"*", "&", ">"}, prev.Text) || prev.Text == "return" {
			continue
		}
		typ := s.typeWords(k)
		if reference.Plain(typ) != "auto" {
			if typ != "" {
				return typ
			}
			continue
		}
		end := k + 1
		for depth := 0; end < len(s.tokens); end++ {
			text := s.text(end)
			if text == "(" || text == "{" {
				depth++
			} else if text == ")" || text == "}" {
				depth--
			} else if text == ";" && depth <= 0 {
				break
			}
		}
		typ, _ = s.typeOf(end, steps)
		return typ
	}
	return places[name]
}

// typeWords returns the type in front of a token.
func (s *snippet) typeWords(end int) string {
	begin := end
	for begin > 0 {
		text := s.text(begin - 1)
		if text == ">" {
			begin = s.opening(begin - 1)
			continue
		}
		if s.tokens[begin-1].Kind != cudalex.Word && text != "::" && text != "*" && text != "&" {
			break
		}
		begin--
	}
	var words []string
	for i := begin; i < end; i++ {
		words = append(words, s.text(i))
	}
	typ := strings.NewReplacer(" :: ", "::", " *", "*", " &", "&", " < ", "<", " >", ">").Replace(strings.Join(words, " "))
	for alias, of := range s.names {
		typ = strings.ReplaceAll(" "+typ, " "+alias+"::", " "+of+"::")[1:]
	}
	return typ
}

// documentationInSnippet returns the documentation of a name at the end of a snippet: of a
// declaration in headers, or of a member, or the type of a variable. text is the snippet before the
// name.
func documentationInSnippet(text, name string) (string, bool) {
	s := newSnippet(text + name)
	end := len(s.tokens)
	if end == 0 || s.tokens[end-1].Kind != cudalex.Word {
		return "", false
	}
	last := s.text(end - 1)
	switch s.text(end - 2) {
	case ".", "->":
		typ, _ := s.typeBefore(end - 2)
		e := findEntry(reference.Plain(typ))
		if e == nil {
			return "", false
		}
		m, ok := reference.MemberOf(e.Name, last)
		if !ok {
			return "", false
		}
		return entry("// "+e.Source()+", in "+e.Name+"\n"+m.Decl, m.Text), true
	case "::":
		space, _ := s.qualified(end - 2)
		return deviceDoc(space + "::" + last)
	}
	if typ := s.declared(last, end, maxSteps); typ != "" && places[last] == "" {
		text := typ + " " + last
		if of, ok := deviceDoc(reference.Plain(typ)); ok {
			text += "\n\n" + of
		}
		return text, true
	}
	return deviceDoc(last)
}

// deviceDoc returns the documentation of a name in the headers of kernels.
func deviceDoc(name string) (string, bool) {
	for _, space := range spaces {
		if decl, text, ok := reference.Lookup(space + name); ok && reference.Find(space+name) != nil {
			return entry(decl, text), true
		}
	}
	if decl, text, ok := reference.Lookup(name); ok && strings.Contains(name, "::") {
		return entry(decl, text), true
	}
	return "", false
}

// deviceList lists a namespace of kernels, such as "symm::", with a line for each name.
func deviceList(space string) (string, bool) {
	entries := reference.Within(space)
	if len(entries) == 0 || !strings.HasSuffix(space, "::") {
		return "", false
	}
	var b strings.Builder
	b.WriteString("namespace " + strings.TrimSuffix(space, "::"))
	source := ""
	for _, e := range entries {
		if e.Source() != source {
			source = e.Source()
			b.WriteString("\n\n// " + source)
		}
		name := strings.TrimPrefix(e.Name, space)
		b.WriteString("\n" + name)
		if about := reference.Summary(strings.Join(e.Texts, "\n\n")); about != "" {
			b.WriteString("  // " + strings.TrimPrefix(about, name+": "))
		}
	}
	return b.String(), true
}
