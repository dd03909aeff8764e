package kerneltext

import (
	"regexp"
	"strings"
)

// piece is a token of C++, or blanks, a comment or a directive between tokens.
type piece struct {
	text string
	code bool // a token
}

// pieces splits a text into pieces, whose texts together are the text. A directive of the
// preprocessor is one piece with its continued lines.
func pieces(text string) (list []piece) {
	line := true // nothing but blanks is before i in its line
	for i := 0; i < len(text); {
		rest := text[i:]
		n, code := 1, true
		switch c := text[i]; {
		case c == '\n':
			code, line = false, true
			list = append(list, piece{rest[:1], false})
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			code = false
			list = append(list, piece{rest[:1], false})
			i++
			continue
		case strings.HasPrefix(rest, "//"):
			n, code = lineEnd(rest), false
		case strings.HasPrefix(rest, "/*"):
			n, code = len(rest), false
			if k := strings.Index(rest[2:], "*/"); k >= 0 {
				n = k + 4
			}
		case c == '#' && line:
			n, code = lineEnd(rest), false
		case rawString.MatchString(rest):
			m := rawString.FindStringSubmatch(rest)
			n = len(rest)
			if k := strings.Index(rest[len(m[0]):], ")"+m[1]+`"`); k >= 0 {
				n = len(m[0]) + k + len(m[1]) + 2
			}
		case c == '"' || c == '\'':
			n = quoted(rest)
		case isWord(c):
			for n < len(rest) && (isWord(rest[n]) || rest[n] == '\'' && n+1 < len(rest) && c >= '0' && c <= '9' && isWord(rest[n+1])) {
				n++
			}
		}
		list = append(list, piece{rest[:n], code})
		line = false
		i += n
	}
	return list
}

var rawString = regexp.MustCompile(`^(?:u8|[uUL])?R"([^()\\\s"]{0,16})\(`)

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// lineEnd returns the length of the line at the beginning of a text, with the lines that continue it.
func lineEnd(text string) int {
	for i := 0; ; {
		k := strings.IndexByte(text[i:], '\n')
		if k < 0 {
			return len(text)
		}
		if i += k; !strings.HasSuffix(strings.TrimSuffix(text[:i], "\r"), `\`) {
			return i
		}
		i++
	}
}

// quoted returns the length of the string or character at the beginning of a text.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			return i
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}

// bare returns the tokens of a text, with blanks between only where words meet.
func bare(text string) string {
	var b strings.Builder
	for _, p := range pieces(text) {
		switch {
		case !p.code && p.text != "" && strings.ContainsRune(" \t\n", rune(p.text[0])):
			b.WriteByte(' ')
		case p.code && p.text[0] != '"' && p.text[0] != '\'':
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// device holds the words that make a declaration one for the device.
var device = map[string]bool{"__global__": true, "__device__": true, "__constant__": true, "__shared__": true, "__managed__": true}

// onlyHost matches names that only code of the host has: of CUDA's runtime and driver, and of libraries.
var onlyHost = regexp.MustCompile(`^(cuda[A-Z]\w*|CU[a-z]\w+|CU_\w+|MPI_\w+|ibv_\w+|torch|at|c10|pybind11|py|nlohmann|boost|fmt|spdlog)$`)

// standardHost holds the names of namespace std that only code of the host has.
var standardHost = wordSet(`any basic_string bad_alloc cerr chrono condition_variable cout deque endl error_code exception filesystem forward_list
	function future hash ifstream initializer_list invalid_argument ios iostream istream istringstream istream list locale lock_guard
	logic_error make_shared make_unique map multimap multiset mutex ofstream optional ostream ostringstream out_of_range priority_queue
	promise queue random_device recursive_mutex regex runtime_error set shared_mutex shared_ptr stack streambuf string string_view
	stringstream system_error thread to_string unique_lock unique_ptr unordered_map unordered_set variant vector weak_ptr`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// kept are the first words of declarations that stay, unless they define a function.
var kept = map[string]bool{"struct": true, "class": true, "union": true, "enum": true, "using": true, "typedef": true,
	"static_assert": true, "concept": true, "const": true, "constexpr": true, "consteval": true}

// withoutHost replaces the declarations at namespace scope that are not for the device by blanks.
func withoutHost(text string) string {
	list := pieces(text)
	s := scope{list: list, marks: marksOf(list), declared: namespacesOf(list), host: map[string]bool{}}
	s.namespace(0)
	for i, p := range list { // macros that launch kernels
		if !p.code && macro.MatchString(p.text) && strings.Contains(p.text, "<<<") {
			list[i].text = blanks(p.text)
		}
	}
	var b strings.Builder
	for _, p := range s.list {
		b.WriteString(p.text)
	}
	return b.String()
}

var macro = regexp.MustCompile(`^#[ \t]*define[ \t]+([A-Za-z_]\w*)`)

// marksOf returns the words that make a declaration one for the device: device, and the macros whose
// texts contain one of the words.
func marksOf(list []piece) map[string]bool {
	marks := map[string]bool{}
	for word := range device {
		marks[word] = true
	}
	for range 4 { // macros of macros
		for _, p := range list {
			if m := macro.FindStringSubmatch(p.text); !p.code && m != nil {
				for _, word := range pieces(p.text[len(m[0]):]) {
					if marks[word.text] {
						marks[m[1]] = true
					}
				}
			}
		}
	}
	return marks
}

// namespacesOf returns the names of the namespaces that a text declares, and of those of headers that
// stay.
func namespacesOf(list []piece) map[string]bool {
	names := map[string]bool{"cooperative_groups": true, "cuda": true, "nvcuda": true, "symm": true}
	named, before := false, ""
	for _, p := range list {
		if !p.code {
			continue
		}
		switch {
		case p.text == "namespace":
			named = before != "using"
		case named && isWord(p.text[0]):
			names[p.text] = true
		default:
			named = named && p.text == ":"
		}
		before = p.text
	}
	return names
}

// scope blanks pieces of a text.
type scope struct {
	list     []piece
	marks    map[string]bool
	declared map[string]bool // namespaces
	host     map[string]bool // types that are blanks
}

// namespace goes over declarations from i on, up to a brace that closes, and returns its index.
func (s *scope) namespace(i int) int {
	for i < len(s.list) {
		if p := s.list[i]; !p.code {
			i++
			continue
		}
		if s.list[i].text == "}" {
			return i
		}
		i = s.declaration(i)
	}
	return i
}

// declaration goes over one declaration and returns the index behind it.
func (s *scope) declaration(begin int) int {
	var words []string // outside of parentheses and of the parameters of templates
	marked, called, assigned := false, false, false
	depth := 0
	i := begin
	for ; i < len(s.list); i++ {
		p := s.list[i]
		if !p.code {
			continue
		}
		marked = marked || s.marks[p.text]
		switch p.text {
		case "<":
			if n := len(words); n > 0 && words[n-1] == "template" {
				i = s.parameters(i)
				continue
			}
			words = append(words, p.text)
		case "(", "[":
			if p.text == "(" && depth == 0 && !assigned && len(words) > 0 {
				called = called || !attribute[words[len(words)-1]]
			}
			depth++
		case ")", "]":
			depth = max(0, depth-1)
		case "=":
			assigned = assigned || depth == 0
		case ";":
			if depth == 0 {
				i++
				s.decide(begin, i, words, marked, called, false)
				return i
			}
		case "}":
			if depth == 0 { // of the scope around: the declaration has no end
				return i
			}
		case "{":
			if depth > 0 {
				i = s.closing(i)
				continue
			}
			if !called && opensScope(words) {
				if end := s.namespace(i + 1); end < len(s.list) {
					return end + 1
				}
				return len(s.list)
			}
			i = s.closing(i)
			if function := called && !assigned; function && !s.goesOn(i+1) {
				i = min(i+1, len(s.list))
				s.decide(begin, i, words, marked, called, true)
				return i
			}
		default:
			if depth == 0 {
				words = append(words, p.text)
			}
		}
	}
	return i
}

// parameters returns the index of the angle that closes the parameters of a template, or the end.
func (s *scope) parameters(i int) int {
	angles, depth := 0, 0
	for ; i < len(s.list); i++ {
		if !s.list[i].code {
			continue
		}
		switch s.list[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case "<":
			if depth == 0 {
				angles++
			}
		case ">":
			if depth == 0 {
				angles--
			}
		}
		if angles == 0 {
			return i
		}
	}
	return i
}

// attribute holds the words before parentheses that name no function.
var attribute = map[string]bool{"__launch_bounds__": true, "__cluster_dims__": true, "__block_size__": true, "__attribute__": true,
	"alignas": true, "__align__": true, "__declspec": true, "decltype": true, "requires": true, "noexcept": true, "explicit": true}

// opensScope reports whether the words before a brace are those of a namespace or of extern "C".
func opensScope(words []string) bool {
	for i, w := range words {
		if w == "namespace" || w == "extern" && i+2 == len(words) && strings.HasPrefix(words[i+1], `"`) {
			return true
		}
	}
	return false
}

// closing returns the index of the brace that closes the one at i, or the end.
func (s *scope) closing(i int) int {
	depth := 0
	for ; i < len(s.list); i++ {
		switch p := s.list[i]; {
		case p.code && p.text == "{":
			depth++
		case p.code && p.text == "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s.list)
}

// goesOn reports whether a declaration goes on behind a brace, because the brace was part of an
// initialiser of a constructor.
func (s *scope) goesOn(i int) bool {
	for ; i < len(s.list); i++ {
		if p := s.list[i]; p.code {
			return p.text == "{" || p.text == ","
		}
	}
	return false
}

// decide blanks a declaration that is not for the device. Directives stay.
func (s *scope) decide(begin, end int, words []string, marked, called, body bool) {
	if marked || s.stays(words, called, body) && !s.needsHost(begin, end) {
		return
	}
	if name := typeName(behindTemplate(words)); name != "" {
		s.host[name] = true
	}
	for i := begin; i < end; i++ {
		if p := &s.list[i]; !strings.HasPrefix(p.text, "#") || p.code {
			p.text = blanks(p.text)
		}
	}
}

// stays reports whether a declaration without a word for the device stays.
func (s *scope) stays(words []string, called, body bool) bool {
	words = behindTemplate(words)
	switch {
	case len(words) == 0:
		return true
	case words[0] == "using" && len(words) > 2 && words[1] == "namespace":
		return s.declared[words[2]]
	case words[0] == "using" && len(words) > 2 && words[2] == ":":
		return s.declared[words[1]]
	case words[0] == "inline" || words[0] == "static":
		return len(words) > 1 && (kept[words[1]] && !called || words[1] == "constexpr")
	case words[0] == "constexpr" || words[0] == "consteval":
		return true
	}
	return kept[words[0]] && !(called && body && words[0] != "struct" && words[0] != "class") && !(called && words[0] == "const")
}

// needsHost reports whether a declaration names what only the host has, or launches a kernel.
func (s *scope) needsHost(begin, end int) bool {
	var before [3]string // tokens
	for _, p := range s.list[begin:end] {
		if !p.code {
			continue
		}
		switch {
		case onlyHost.MatchString(p.text) || s.host[p.text]:
			return true
		case standardHost[p.text] && before == [3]string{"std", ":", ":"}:
			return true
		case p.text == "<" && before[1] == "<" && before[2] == "<":
			return true
		}
		before = [3]string{before[1], before[2], p.text}
	}
	return false
}

// typeName returns the name of the type that a declaration with these words declares, "" if none.
func typeName(words []string) string {
	if len(words) < 2 {
		return ""
	}
	switch words[0] {
	case "using":
		if words[1] != "namespace" && (len(words) < 3 || words[2] != ":") {
			return words[1]
		}
	case "typedef":
		return words[len(words)-1]
	case "struct", "class", "union", "enum":
		for _, w := range words[1:] {
			if isWord(w[0]) && !attribute[w] && w != "class" {
				return w
			}
		}
	}
	return ""
}

// behindTemplate returns the words behind template<…>, of whose parameters words has none.
func behindTemplate(words []string) []string {
	for len(words) > 0 && words[0] == "template" {
		words = words[1:]
	}
	return words
}

// blanks returns a text of blanks with the same lines.
func blanks(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}
