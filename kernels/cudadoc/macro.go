package cudadoc

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// macro is a definition.
type macro struct {
	params   []string // the last is __VA_ARGS__ if there are more
	function bool     // it is called with arguments
	body     string
	text     string // its comment
}

// define reads #define NAME(PARAMETERS) BODY.
func define(piece cudalex.Piece) (m *macro, name string, ok bool) {
	name, rest := directive(piece)
	if name != "define" {
		return nil, "", false
	}
	at := 0
	for at < len(rest) && isNameByte(rest[at]) {
		at++
	}
	name, rest = rest[:at], rest[at:]
	if name == "" {
		return nil, "", false
	}
	m = &macro{}
	if strings.HasPrefix(rest, "(") {
		list, body, closed := strings.Cut(rest[1:], ")")
		if !closed {
			return nil, "", false
		}
		m.function, rest = true, body
		for param := range strings.SplitSeq(list, ",") {
			param = strings.TrimSpace(param)
			if param == "..." {
				param = "__VA_ARGS__"
			}
			m.params = append(m.params, param)
		}
	}
	m.body = strings.TrimSpace(strings.NewReplacer("\\\n", " ", "\\\r\n", " ").Replace(rest))
	return m, name, true
}

// directive returns the name of a preprocessor line, and what follows it.
func directive(piece cudalex.Piece) (name, rest string) {
	if piece.Kind != cudalex.Directive {
		return "", ""
	}
	text := strings.TrimLeft(piece.Text[1:], " \t")
	at := 0
	for at < len(text) && isNameByte(text[at]) {
		at++
	}
	return text[:at], strings.TrimLeft(text[at:], " \t")
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// expand returns the body with arguments in place of parameters. It joins tokens around ##, and
// quotes the argument after #. A comment that is only the name of a parameter becomes the argument,
// so that a macro can take the comment of what it declares.
func (m *macro) expand(args []string) string {
	value := func(name string) (string, bool) {
		i := slices.Index(m.params, name)
		switch {
		case i < 0:
			return "", false
		case name == "__VA_ARGS__":
			return strings.Join(args[min(i, len(args)):], ", "), true
		case i < len(args):
			return args[i], true
		}
		return "", true
	}
	var b strings.Builder
	pieces := cudalex.Pieces(" "+m.body, nil)
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		if p.Text == "#" && i+1 < len(pieces) && pieces[i+1].Text == "#" {
			joined := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(joined)
			for i++; i+1 < len(pieces) && pieces[i+1].Kind == cudalex.Space; {
				i++
			}
			continue
		}
		if p.Text == "#" && i+1 < len(pieces) {
			if v, ok := value(pieces[i+1].Text); ok {
				b.WriteString(strconv.Quote(v))
				i++
				continue
			}
		}
		if v, ok := value(p.Text); ok && p.Kind == cudalex.Word {
			b.WriteString(v)
		} else if v, ok := value(comment(p.Text)); ok && p.Kind == cudalex.Comment {
			b.WriteString("/* " + strings.ReplaceAll(strings.Trim(v, `"`), "*/", "") + " */")
		} else {
			b.WriteString(p.Text)
		}
		if b.Len() > maxExpansion {
			break
		}
	}
	return strings.TrimLeft(b.String(), " ")
}
