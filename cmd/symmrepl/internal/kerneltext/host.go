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

// device are the words that make a declaration one for the device.
var device = map[string]bool{"__global__": true, "__device__": true, "__constant__": true, "__shared__": true, "__managed__": true,
	"constexpr": true, "consteval": true}

// kept are the first words of declarations that stay, unless they define a function.
var kept = map[string]bool{"struct": true, "class": true, "union": true, "enum": true, "using": true, "typedef": true,
	"static_assert": true, "concept": true, "const": true}

// withoutHost replaces the declarations at namespace scope that are not for the device by blanks.
func withoutHost(text string) string {
	list := pieces(text)
	s := scope{list: list, marks: marksOf(list), declared: namespacesOf(list)}
	s.namespace(0)
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
	var words []string // outside of parentheses and template's angles
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

// attribute are the words before parentheses that are no function's.
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
	if marked || s.stays(words, called, body) {
		return
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
		return !called && len(words) > 1 && kept[words[1]]
	}
	return kept[words[0]] && !(called && body && words[0] != "struct" && words[0] != "class") && !(called && words[0] == "const")
}

// behindTemplate returns the words behind template<…>.
func behindTemplate(words []string) []string {
	for len(words) > 0 && words[0] == "template" {
		depth, i := 0, 1
		for ; i < len(words); i++ {
			if words[i] == "<" {
				depth++
			}
			if words[i] == ">" {
				if depth--; depth == 0 {
					i++
					break
				}
			}
		}
		words = words[min(i, len(words)):]
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
