package cpu

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// dynamicShared matches a declaration of dynamic shared memory, extern __shared__ float s[], with the
// words, the blank before the name, the name and the brackets as groups.
var dynamicShared = regexp.MustCompile(`\b(extern)\b[^;{}=]*?\b(__shared__)\s[^;{}=]*?(\s?)\b([A-Za-z_]\w*)(\s*\[\s*\])`)

// dynamic is the dynamic shared memory of a snippet.
type dynamic struct {
	text     string   // of the snippet, with pointers in place of declarations in functions
	declared bool     // there is any
	symbols  []string // names in the linker of the declarations that stay
}

// declareDynamic finds the dynamic shared memory of a snippet. A declaration in a function becomes a
// pointer: the linker has other names for it in templates and in namespaces, and g++ 12 calls an
// initialiser of it in templates, which no module has. Lines stay, and columns before the brackets.
func declareDynamic(text string) dynamic {
	var d dynamic
	code := cudalex.Blank(text, nil)
	s := scopes{code: code}
	var b strings.Builder
	done := 0
	for _, m := range dynamicShared.FindAllStringSubmatchIndex(code, -1) {
		d.declared = true
		blank, name, brackets := m[6:8], code[m[8]:m[9]], m[10:12]
		namespaces, function := s.at(m[0])
		pointer := blank[0] < blank[1] && strings.HasPrefix(strings.TrimLeft(code[brackets[1]:], " \t\r\n"), ";")
		if !function || !pointer { // or float (s)[], s[][4]
			if symbol := mangled(namespaces, name); !slices.Contains(d.symbols, symbol) {
				d.symbols = append(d.symbols, symbol)
			}
			continue
		}
		for _, part := range []struct {
			at   []int
			text string
		}{{m[2:4], "      "}, {m[4:6], "          "}, {blank, "*"}, {brackets, "  = ::emu::dynamic_shared()"}} {
			b.WriteString(text[done:part.at[0]])
			b.WriteString(part.text)
			b.WriteString(strings.Repeat("\n", strings.Count(text[part.at[0]:part.at[1]], "\n")))
			done = part.at[1]
		}
	}
	b.WriteString(text[done:])
	d.text = b.String()
	return d
}

// ahead returns the text ahead of the snippet that the declarations need.
func (d dynamic) ahead() string {
	if !d.declared {
		return ""
	}
	text := "EMU_DYNAMIC_SHARED_NAMES\n"
	for _, symbol := range d.symbols {
		text += fmt.Sprintf("EMU_DYNAMIC_SHARED(%q)\n", symbol)
	}
	return text
}

// mangled returns the name of a variable in the linker.
func mangled(namespaces []string, name string) string {
	if len(namespaces) == 0 {
		return name
	}
	var b strings.Builder
	for _, part := range append(slices.Clone(namespaces), name) {
		fmt.Fprintf(&b, "%d%s", len(part), part)
	}
	return "_ZN" + b.String() + "E"
}

// scopes follows the braces of a text.
type scopes struct {
	code string
	to   int // up to which open is right
	open []string
}

// Kinds of open braces that are no namespaces.
const (
	functionBrace = "{"
	linkageBrace  = `"C"`
)

var (
	namespaceBefore = regexp.MustCompile(`\bnamespace\s+([\w:]*)\s*$`)
	linkageBefore   = regexp.MustCompile(`\bextern\b[\s"]*$`)
)

// at returns the names of the namespaces around a place behind all earlier ones, none in extern "C",
// and whether it is in other braces: of a function or a type.
func (s *scopes) at(place int) (namespaces []string, function bool) {
	begin := s.to // of the declaration that goes on
	for i := s.to; i < place; i++ {
		switch s.code[i] {
		case ';':
			begin = i + 1
		case '{':
			before := s.code[begin:i]
			kind := functionBrace
			if m := namespaceBefore.FindStringSubmatch(before); m != nil {
				kind = m[1]
			} else if linkageBefore.MatchString(before) {
				kind = linkageBrace
			}
			s.open = append(s.open, kind)
			begin = i + 1
		case '}':
			s.open = s.open[:max(0, len(s.open)-1)]
			begin = i + 1
		}
	}
	s.to = place
	if slices.Contains(s.open, linkageBrace) {
		return nil, slices.Contains(s.open, functionBrace)
	}
	for _, kind := range s.open {
		if kind == functionBrace {
			function = true
		} else {
			namespaces = append(namespaces, strings.FieldsFunc(kind, func(r rune) bool { return r == ':' })...)
		}
	}
	return namespaces, function
}
