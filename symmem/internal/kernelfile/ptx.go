package kernelfile

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// PTX is text: "PTX ISA", chapters 4 (syntax), 5 (types) and 11 (directives).

// isText reports whether data can be PTX.
func isText(data []byte) bool {
	data = bytes.TrimRight(data, "\x00")
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// ptxTypes are the bytes of the types that parameters have.
var ptxTypes = map[string]int{
	".b8": 1, ".u8": 1, ".s8": 1, ".b16": 2, ".u16": 2, ".s16": 2, ".f16": 2, ".bf16": 2, ".f16x2": 4, ".b32": 4, ".u32": 4,
	".s32": 4, ".f32": 4,
	".b64": 8, ".u64": 8, ".s64": 8, ".f64": 8, ".b128": 16, ".texref": 8, ".samplerref": 8, ".surfref": 8,
}

// ptxScanner splits PTX into words, numbers, strings and single characters, without comments.
type ptxScanner struct {
	text  string
	line  int  // of the end of the last token
	ended bool // within a comment or a string
}

// next returns the next token, "" at the end. A word includes the dot before it.
func (s *ptxScanner) next() string {
	for {
		trimmed := strings.TrimLeft(s.text, " \t\r\n\f\v\x00")
		s.skip(len(s.text) - len(trimmed))
		n := -1
		switch {
		case strings.HasPrefix(s.text, "//"):
			n = strings.IndexByte(s.text, '\n')
		case strings.HasPrefix(s.text, "/*"):
			if n = strings.Index(s.text[2:], "*/"); n >= 0 {
				n += 4
			} else {
				s.ended = true
			}
		default:
			return s.token()
		}
		if n < 0 {
			n = len(s.text)
		}
		s.skip(n)
	}
}

func (s *ptxScanner) skip(n int) {
	s.line += strings.Count(s.text[:n], "\n")
	s.text = s.text[n:]
}

func (s *ptxScanner) token() string {
	if s.text == "" {
		return ""
	}
	n := 1
	if s.text[0] == '"' {
		if n = strings.IndexByte(s.text[1:], '"') + 2; n < 2 {
			n, s.ended = len(s.text), true
		}
	} else if inWord(s.text[0]) || s.text[0] == '.' {
		for n < len(s.text) && inWord(s.text[n]) {
			n++
		}
	}
	t := s.text[:n]
	s.skip(n)
	return t
}

// inWord reports whether a byte belongs to a name or number.
func inWord(c byte) bool {
	return c == '_' || c == '$' || c == '%' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// parsePTX finds the kernels of a text.
func parsePTX(data []byte) (*Image, error) {
	text := string(bytes.TrimRight(data, "\x00"))
	im := &Image{ptx: true, Code: append([]byte(text), 0)}
	s := &ptxScanner{text: text, line: 1}
	version := s.next()
	if version != ".version" {
		return nil, fault("PTX begins with .version: nvcc -ptx makes it; give CUDA C++ to symm.Compile", "it is text, but not PTX")
	}
	found := false
	for t := s.next(); t != ""; t = s.next() {
		switch t {
		case ".target":
			if a, ok := parseArch(s.next()); ok && !found {
				im.arch, found = a, true
			}
		case ".address_size":
			if n := s.next(); n != "64" {
				return nil, fault("compile it for 64 bits", "its addresses have %s bits", shorten(n))
			}
		case ".entry":
			k, body, err := s.entry()
			if err != nil {
				return nil, err
			}
			if body {
				im.Kernels = append(im.Kernels, k)
			}
		case "{":
			s.body()
		}
	}
	switch {
	case s.ended:
		return nil, fault(copyAgain, "it ends within a function, a comment or a string")
	case !found:
		return nil, fault(copyAgain, "the PTX has no .target with an architecture")
	}
	return im, nil
}

// body skips a function's body, whose brace was read.
func (s *ptxScanner) body() {
	for depth := 1; depth > 0; {
		switch s.next() {
		case "{":
			depth++
		case "}":
			depth--
		case "":
			s.ended = true
			return
		}
	}
}

// entry reads a kernel after ".entry". body says that it is a definition.
func (s *ptxScanner) entry() (k Kernel, body bool, err error) {
	k.Name = s.next()
	t := s.next()
	if t == "(" {
		end := 0
		for t = s.next(); t == ".param" || t == ","; t = s.next() {
			if t == "," {
				continue
			}
			p, wrong := s.param(end)
			if wrong != "" {
				return k, false, fault(copyAgain, "line %d: parameter %d of kernel %s cannot be read at %s", s.line,
					len(k.Params)+1, shorten(k.Name), shorten(wrong))
			}
			k.Params = append(k.Params, p)
			end = p.Offset + p.Size
			if end > maxParams {
				return k, false, fault("", "line %d: kernel %s has more than %d bytes of parameters", s.line, shorten(k.Name), maxParams)
			}
		}
		if t != ")" {
			return k, false, fault(copyAgain, "line %d: the parameters of kernel %s do not end", s.line, shorten(k.Name))
		}
		t = s.next()
	}
	for ; t != "" && t != ";" && t != "{"; t = s.next() {
		if t == ".reqntid" {
			k.Block = [3]int{1, 1, 1}
			for i := range k.Block {
				n, err := strconv.ParseUint(s.next(), 0, 31)
				if err != nil {
					return k, false, fault(copyAgain, "line %d: .reqntid of kernel %s is damaged", s.line, shorten(k.Name))
				}
				k.Block[i] = int(n)
				if !s.comma() {
					break
				}
			}
		}
	}
	switch t {
	case "{":
		s.body()
		return k, true, nil
	case "":
		s.ended = true
	}
	return k, false, nil
}

// comma skips a comma, if it is next.
func (s *ptxScanner) comma() bool {
	ahead := *s
	if ahead.next() != "," {
		return false
	}
	*s = ahead
	return true
}

// param reads a parameter after ".param": .align 8 .b8 name[24]. Parameters lie one behind the
// other, each at a multiple of its alignment. wrong is the token that does not belong there.
func (s *ptxScanner) param(end int) (p Param, wrong string) {
	align := 0
	for {
		t := s.next()
		size, typed := ptxTypes[t]
		switch {
		case t == ".align" && p.Size == 0:
			number := s.next()
			n, err := strconv.ParseUint(number, 0, 8)
			if err != nil || n == 0 || n&(n-1) != 0 {
				return p, number
			}
			align = int(n)
		case t == ".align": // of what a pointer points to
			s.next()
		case typed && p.Size == 0:
			p.Size = size
		case p.Size > 0 && slices.Contains([]string{".ptr", ".const", ".global", ".local", ".shared"}, t):
		case p.Size > 0 && t != "" && inWord(t[0]): // the name
			align = max(align, p.Size)
			ahead := *s
			if ahead.next() == "[" {
				number := ahead.next()
				n, err := strconv.ParseUint(number, 0, 16)
				if err != nil || n == 0 || ahead.next() != "]" {
					return p, number
				}
				*s, p.Size = ahead, p.Size*int(n)
			}
			p.Offset = (end + align - 1) / align * align
			return p, ""
		default:
			return p, t
		}
	}
}
