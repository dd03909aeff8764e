package help

import (
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/kernels/reference"
)

// Source returns the source of a name that a cell has defined, of its method, or of a function in
// the headers of kernels; "" if it is not known. The program has no source of Go's packages.
// snippet is as in Documentation.
func (h *Guide) Source(arg, snippet string) string {
	arg = strings.TrimSuffix(strings.TrimSpace(arg), "()")
	if snippet == "" && !strings.Contains(arg, "::") {
		if text := h.sources[arg]; text != "" {
			return text
		}
		if obj, member, ok := strings.Cut(arg, "."); ok && h.checker.Objects()[obj] != nil { // v.Method
			if named := check.NamedOf(h.checker.Objects()[obj].Type()); named != nil {
				return h.sources[named.Obj().Name()+"."+member]
			}
		}
		return ""
	}
	for _, space := range spaces {
		if e := reference.Find(space + arg); e != nil && e.Kind == "function" {
			return headerSource(e)
		}
	}
	return ""
}

// headerSource returns the definitions of a function in its header.
func headerSource(e *reference.Entry) string {
	var text string
	for _, f := range kernels.Headers() {
		if f.Name == e.Header {
			text = f.Text
		}
	}
	name := e.Name[strings.LastIndex(e.Name, ":")+1:]
	var found []string
	for _, at := range regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\s*\(`).FindAllStringIndex(text, -1) {
		if begin := definitionBefore(text, at[0]); begin >= 0 {
			if end := bodyEnd(text, at[1]-1); end > 0 {
				found = append(found, strings.TrimSpace(text[begin:end]))
			}
		}
	}
	return strings.Join(found, "\n\n")
}

// definitionBefore returns the begin of the declaration whose name is at a position: the beginning
// of a line that is not indented, after an empty line, a comment or another definition. It returns
// -1 for a name inside of a function or a comment.
func definitionBefore(text string, at int) int {
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	if strings.ContainsAny(text[begin:begin+1], " \t/#") {
		return -1
	}
	for begin > 0 {
		line := strings.LastIndexByte(text[:begin-1], '\n') + 1
		above := strings.TrimSpace(text[line : begin-1])
		if above == "" || strings.HasPrefix(above, "//") || strings.HasPrefix(above, "#") ||
			strings.ContainsAny(above[len(above)-1:], ";}{") {
			break
		}
		begin = line
	}
	return begin
}

// bodyEnd returns the end of the body of a function whose parameters open at a position; 0 for a
// declaration without a body.
func bodyEnd(text string, open int) int {
	depth, at := 0, open
	for _, p := range cudalex.Pieces(text[open:], nil) {
		at += len(p.Text)
		if p.Kind != cudalex.Punct {
			continue
		}
		switch p.Text {
		case "(", "{":
			depth++
		case ")", "}":
			if depth--; depth == 0 && p.Text == "}" {
				return at
			}
		case ";":
			if depth == 0 {
				return 0
			}
		}
	}
	return 0
}
