//go:build linux && amd64

package cpu

import (
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// refusals are constructs that a processor cannot run, and would answer with pages of errors.
var refusals = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\b(__asm__|__asm|asm)\b\s*(volatile|__volatile__)?\s*\(`), "inline PTX cannot run on the cpu device; use the helpers of symm.cuh or put it behind #ifndef SYMM_CPU"},
	{regexp.MustCompile(`<<<`), "a kernel cannot be launched from device code; call Launch on the compiled kernel instead"},
	{regexp.MustCompile(`\b(texture\s*<|cudaTextureObject_t\b|cudaSurfaceObject_t\b|tex[123]D(Lod|Grad|fetch)?\s*[(<])`), "textures and surfaces do not exist on the cpu device"},
	{regexp.MustCompile(`\b(wmma|nvcuda)\s*::`), "tensor-core fragments do not exist on the cpu device"},
	{regexp.MustCompile(`\b__cluster_dims__\b|\bthis_cluster\s*\(|\bcluster_group\b`), "thread block clusters do not exist on the cpu device"},
	{regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"](mma\.h|cuda/barrier|cuda/pipeline|cuda_pipeline\.h|cudaTypedefs\.h)[>"]`), "this header is for hardware that the cpu device does not have"},
}

// refuse looks for them outside comments, strings and what is not for the cpu device.
func refuse(src device.Source) error {
	text := withoutGPUOnly(blank(src.Text))
	var found []device.Diagnostic
	for _, r := range refusals {
		for _, at := range r.pattern.FindAllStringIndex(text, -1) {
			start := at[0] + len(text[at[0]:at[1]]) - len(strings.TrimLeft(text[at[0]:at[1]], " \t\n"))
			line := 1 + strings.Count(text[:start], "\n")
			column := start - strings.LastIndexByte(text[:start], '\n')
			found = append(found, device.Diagnostic{Line: line, Column: column, Text: r.why})
		}
	}
	if found == nil {
		return nil
	}
	return compileError(src, found...)
}

// blank replaces comments and the insides of literals by spaces, and keeps lines and columns. Names of included headers stay.
func blank(text string) string {
	out := []byte(text)
	erase := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	lineStart := true
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "//"):
			end := i + lineLength(rest)
			erase(i, end)
			i = end
		case strings.HasPrefix(rest, "/*"):
			end := len(text)
			if n := strings.Index(rest[2:], "*/"); n >= 0 {
				end = i + n + 4
			}
			erase(i, end)
			i = end
		case strings.HasPrefix(rest, `R"`) && (i == 0 || !isWord(text[i-1])):
			end := rawEnd(text, i)
			erase(i+2, max(i+2, end-1))
			i = end
		case rest[0] == '"' || rest[0] == '\'' && (i == 0 || !isWord(text[i-1])):
			end := literalEnd(text, i)
			erase(i+1, max(i+1, end-1))
			i = end
		case rest[0] == '#' && lineStart && isInclude(rest):
			i += lineLength(rest)
		default:
			if rest[0] == '\n' {
				lineStart = true
			} else if rest[0] != ' ' && rest[0] != '\t' {
				lineStart = false
			}
			i++
			continue
		}
		lineStart = false
	}
	return string(out)
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

func isInclude(s string) bool {
	return strings.HasPrefix(strings.TrimLeft(s[1:], " \t"), "include")
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// literalEnd is behind the closing quote, or at the end of the line if there is none.
func literalEnd(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '\n':
			return j
		case text[i]:
			return j + 1
		}
	}
	return len(text)
}

func rawEnd(text string, i int) int {
	open := strings.IndexByte(text[i:], '(')
	if open < 0 {
		return len(text)
	}
	closing := ")" + text[i+2:i+open] + `"`
	if n := strings.Index(text[i+open:], closing); n >= 0 {
		return i + open + n + len(closing)
	}
	return len(text)
}

var conditional = regexp.MustCompile(`^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b[ \t]*(.*?)[ \t]*$`)

// withoutGPUOnly blanks the lines that SYMM_CPU excludes. Other conditions are taken to hold.
func withoutGPUOnly(text string) string {
	lines := strings.Split(text, "\n")
	var excluded []bool // by nesting
	off := func() bool {
		for _, e := range excluded {
			if e {
				return true
			}
		}
		return false
	}
	for i, line := range lines {
		m := conditional.FindStringSubmatch(line)
		if m == nil {
			if off() {
				lines[i] = strings.Repeat(" ", len(line))
			}
			continue
		}
		top := len(excluded) - 1
		switch condition := strings.Join(strings.Fields(m[2]), ""); m[1] {
		case "ifdef":
			excluded = append(excluded, false)
		case "ifndef":
			excluded = append(excluded, condition == "SYMM_CPU")
		case "if":
			excluded = append(excluded, condition == "!defined(SYMM_CPU)" || condition == "!SYMM_CPU" || condition == "0")
		case "else", "elif":
			if top >= 0 {
				excluded[top] = !excluded[top] && isCPUCondition(lines, i)
			}
		case "endif":
			if top >= 0 {
				excluded = excluded[:top]
			}
		}
	}
	return strings.Join(lines, "\n")
}

// isCPUCondition tells whether the branch before the #else on line i is for the cpu device.
func isCPUCondition(lines []string, i int) bool {
	depth := 0
	for i--; i >= 0; i-- {
		m := conditional.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		switch m[1] {
		case "endif":
			depth++
		case "ifdef", "ifndef", "if":
			if depth > 0 {
				depth--
				continue
			}
			condition := strings.Join(strings.Fields(m[2]), "")
			return m[1] == "ifdef" && condition == "SYMM_CPU" || m[1] == "if" && (condition == "defined(SYMM_CPU)" || condition == "SYMM_CPU")
		}
	}
	return false
}
