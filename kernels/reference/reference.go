// Package reference lists the declarations of symm.cuh, symm/multimem.cuh and nccl_device.h, which
// users' kernels can use, with their comments. It parses the headers themselves.
package reference

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/kernels"
)

// entry holds the declarations and the comment of one name.
type entry struct {
	file string
	// of a function, one for each overload; but only the overload for handles if there is one,
	// because users call that
	decls   []string
	texts   []string
	handles bool
}

// Lookup returns the declarations and the comment of a name: "symm::put", or "put" and "ncclGin". A
// member is found with its type: "symm::Handle::pad".
func Lookup(name string) (decl, text string, ok bool) {
	all := entries()
	e := find(all, name)
	for e == nil && strings.Contains(name, "::") {
		name = name[:strings.LastIndex(name, "::")]
		e = find(all, name)
	}
	if e == nil || name == "symm" {
		return "", "", false
	}
	decls := e.decls
	if m := another.FindStringSubmatch(decls[0]); m != nil {
		if of := find(all, m[1]); of != nil && of != e {
			decls = slices.Concat(decls, of.decls)
		}
	}
	return "// " + e.file + "\n" + strings.Join(decls, "\n"), strings.Join(e.texts, "\n\n"), true
}

// another is a name for another type.
var another = regexp.MustCompile(`^using \w+ = (\w+)`)

func find(all map[string]*entry, name string) *entry {
	if e := all[name]; e != nil {
		return e
	}
	return all[home+name]
}

// Names returns the names that Lookup knows, in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(entries())) }

// home is the namespace of symm.cuh.
const home = "symm::"

var entries = sync.OnceValue(func() map[string]*entry {
	all := map[string]*entry{}
	for _, f := range kernels.Headers() {
		if !strings.HasPrefix(f.Name, "cuda/") {
			r := reader{file: f.Name, lines: strings.Split(f.Text, "\n"), all: all}
			r.read()
		}
	}
	return all
})

// reader reads one header. Declarations for users and their comments begin in the first column.
type reader struct {
	file   string
	lines  []string
	all    map[string]*entry
	about  string // the comment at the beginning of the file
	inSymm bool
}

func (r *reader) read() {
	// above the line and above the lines directly before it, without a blank line between
	var comment []string
	for i := 0; i < len(r.lines); i++ {
		line := r.lines[i]
		switch {
		case strings.HasPrefix(line, "//"):
			if i > 0 && !strings.HasPrefix(r.lines[i-1], "//") {
				comment = nil
			}
			comment = append(comment, strings.TrimPrefix(strings.TrimPrefix(line, "//"), " "))
		case strings.TrimSpace(line) == "":
			comment = nil
		case strings.HasPrefix(line, "#pragma once"):
			r.about, comment = strings.Join(comment, "\n"), nil
		case strings.HasPrefix(line, "namespace symm {"):
			r.inSymm, comment = true, nil
		case strings.HasPrefix(line, "}"):
			r.inSymm = false
		case declares(line):
			end := r.end(i)
			r.add(strings.Join(r.lines[i:end+1], "\n"), strings.Join(comment, "\n"))
			i = end
		}
	}
}

// declares reports whether a declaration begins on a line.
func declares(line string) bool {
	for _, word := range []string{"template", "__device__", "__host__", "struct ", "class ", "enum ", "SYMM_INLINE ", "constexpr ",
		"inline ", "typedef ", "using ", "NCCL_DEVICE_INLINE"} {
		if strings.HasPrefix(line, word) {
			return true
		}
	}
	return false
}

// end returns the line on which the declaration that begins on line i ends. The end is its last
// brace, in the first column unless the declaration is one line, or a semicolon outside of braces.
func (r *reader) end(i int) int {
	depth := 0
	for j := i; j < len(r.lines); j++ {
		code, _, _ := strings.Cut(r.lines[j], "//")
		if strings.HasPrefix(code, "}") {
			return j
		}
		if strings.HasPrefix(code, "#") {
			continue
		}
		opened := depth > 0 || strings.Contains(code, "{")
		depth += strings.Count(code, "{") - strings.Count(code, "}")
		if depth == 0 && (opened || strings.Contains(code, ";")) {
			return j
		}
	}
	return len(r.lines) - 1
}

var (
	named    = regexp.MustCompile(`^(?:struct|class|enum)\s+(?:alignas\([^)]*\)+\s*)?(\w+)`)
	function = regexp.MustCompile(`([\w~]+|operator[^\s\w(]+)\s*\(`)
	constant = regexp.MustCompile(`^constexpr .*?(\w+) = `)
	alias    = regexp.MustCompile(`^(?:using (\w+) = |typedef .*?(\w+);)`)
	// how matches the words of a declaration that users do not see.
	how = regexp.MustCompile(`\b(__device__|__forceinline__|__noinline__|SYMM_APART|SYMM_INLINE|NCCL_DEVICE_INLINE|NCCL_HOST_DEVICE_INLINE|inline)\s*`)
)

// add keeps a declaration.
func (r *reader) add(source, comment string) {
	head := source
	if strings.HasPrefix(head, "template") {
		head = strings.TrimLeft(head[closing(head, strings.IndexByte(head, '<')):], " \n")
	}
	var name, decl string
	if m := named.FindStringSubmatch(head); m != nil && strings.Contains(head, "{") {
		name, decl = m[1], members(source)
	} else if m := constant.FindStringSubmatch(head); m != nil && !strings.Contains(strings.SplitN(head, "=", 2)[0], "(") {
		name, decl = m[1], strings.TrimSuffix(head, ";")
	} else if m := alias.FindStringSubmatch(head); m != nil {
		name, decl = m[1]+m[2], strings.TrimSuffix(head, ";")
	} else if m := function.FindStringSubmatch(how.ReplaceAllString(head, "")); m != nil {
		name, decl = m[1], signature(source)
	}
	if name == "" || strings.HasPrefix(name, "operator") {
		return
	}
	if r.inSymm {
		name = home + name
	}
	e := r.all[name]
	if e == nil {
		e = &entry{file: r.file}
		r.all[name] = e
	}
	forHandles := strings.Contains(decl, "(const Handle& h")
	if e.handles && !forHandles {
		return
	}
	if forHandles && !e.handles {
		*e = entry{file: r.file, handles: true}
	}
	if !slices.Contains(e.decls, decl) {
		e.decls = append(e.decls, decl)
	}
	if comment == "" && len(e.texts) == 0 {
		comment = r.about
	}
	if comment != "" && !slices.Contains(e.texts, comment) {
		if len(e.texts) == 1 && e.texts[0] == r.about {
			e.texts = nil
		}
		e.texts = append(e.texts, comment)
	}
}

// closing returns the index behind the angle that closes the one at open.
func closing(text string, open int) int {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// signature is a function's declaration without its body.
func signature(source string) string {
	depth := 0
	end := len(source)
	for i, c := range source {
		if c == '(' {
			depth++
		} else if c == ')' {
			depth--
		} else if depth == 0 && (c == '{' || c == ';') {
			end = i
			break
		}
	}
	return strings.Join(strings.Fields(how.ReplaceAllString(source[:end], "")), " ") + ";"
}

// members returns a type's declaration with its public fields, its comments and the heads of its
// public functions. It drops the parts under #ifdef and keeps their #else.
func members(source string) string {
	var out []string
	skip, inHead, inBody := false, false, false
	for line := range strings.SplitSeq(source, "\n") {
		switch {
		case strings.HasPrefix(line, "#if"):
			skip = strings.HasPrefix(line, "#ifdef")
			continue
		case strings.HasPrefix(line, "#else"):
			skip = !skip
			continue
		case strings.HasPrefix(line, "#endif"):
			skip = false
			continue
		case strings.HasPrefix(line, "#"), skip:
			continue
		case strings.HasPrefix(line, " private:"):
			return strings.TrimSpace(strings.Join(out, "\n")) + "\n};"
		case inBody:
			inBody = line != "  }"
			continue
		}
		isMember := strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") && !strings.HasPrefix(line, "  //")
		inHead = inHead || isMember && strings.Contains(line, "(") && !strings.HasSuffix(line, ";")
		if at := bodyOf.FindStringSubmatchIndex(line); inHead && at != nil {
			inHead, inBody = false, !strings.HasSuffix(line, "}")
			line = strings.TrimRight(line[:at[2]], " ") + ";"
		} else if strings.HasSuffix(line, ";") {
			inHead = false
		}
		if line == ";" && len(out) > 0 { // behind a head on the line before
			out[len(out)-1] += line
			continue
		}
		out = append(out, how.ReplaceAllString(line, ""))
	}
	return strings.Join(out, "\n")
}

// bodyOf matches from the end of a function's head: the initialisers of a constructor and the brace
// of the body.
var bodyOf = regexp.MustCompile(`(?:^ {6}|\)(?: const)?)( ?: .*| )\{`)
