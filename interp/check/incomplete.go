package check

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
)

// Incomplete reports whether a cell's source asks for more lines: it ends inside of brackets, a raw
// string or a comment, or after an operator or keyword that needs something to follow. Source that
// no continuation makes right is not incomplete.
func Incomplete(src string) bool {
	closers, unterminated, trailing := scanOpen(src)
	if unterminated {
		return true
	}
	if closers != "" {
		return mayContinue(src, closers)
	}
	return trailing
}

// scanOpen describes the end of a source: it returns the brackets that would close the source, and
// reports whether a raw string or comment has no end, and whether the last token needs an operand.
func scanOpen(src string) (closers string, unterminated, trailing bool) {
	last := token.EOF
	for t := range gotokens.WithComments(src) {
		unterminated = unterminated || t.Open && (t.Kind == token.COMMENT || t.Kind == token.STRING && t.Text[0] == '`')
		switch t.Kind {
		case token.LPAREN:
			closers = ")" + closers
		case token.LBRACK:
			closers = "]" + closers
		case token.LBRACE:
			closers = "}" + closers
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if closers == "" || closers[:1] != t.Kind.String() {
				return "", unterminated, false
			}
			closers = closers[1:]
		}
		if t.Kind != token.COMMENT && !t.IsNewline() {
			last = t.Kind
		}
	}
	return closers, unterminated, needsOperand(last)
}

// needsOperand reports whether a token cannot end a cell.
func needsOperand(tok token.Token) bool {
	switch tok {
	case token.INC, token.DEC, token.RPAREN, token.RBRACK, token.RBRACE, token.SEMICOLON, token.EOF, token.ILLEGAL,
		token.BREAK, token.CONTINUE, token.FALLTHROUGH, token.RETURN:
		return false
	}
	return tok.IsOperator() || tok.IsKeyword()
}

// mayContinue reports whether src, which leaves brackets open, has no error before its end.
func mayContinue(src, closers string) bool {
	end := len(strings.TrimRight(src, " \t\r\n"))
	for _, filler := range []string{"", " _", " {}", ": _"} {
		errs := parseErrors(src + filler + closers)
		if len(errs) == 0 || errs[0].Pos.Offset >= end && !strings.Contains(errs[0].Msg, "before newline") {
			return true
		}
	}
	return false
}

// parseErrors parses a cell as Eval would, with positions in src.
func parseErrors(src string) scanner.ErrorList {
	items, errs := Split(src)
	if errs != nil {
		return errs
	}
	var all scanner.ErrorList
	for _, part := range []struct {
		header, trailer string
		decls           bool
	}{{declsHeader, "", true}, {stmtsHeader, "\n}", false}} {
		_, err := parser.ParseFile(token.NewFileSet(), FileName, part.header+blank(src, items, part.decls)+part.trailer,
			parser.SkipObjectResolution)
		if list, ok := err.(scanner.ErrorList); ok {
			for _, e := range list {
				e.Pos.Offset -= len(part.header)
				all = append(all, e)
			}
		}
	}
	all.Sort()
	return all
}

// Invalid reports whether the source of a cell does not parse, and no more lines can make it parse.
func Invalid(src string) bool {
	items, errs := Split(src)
	if errs == nil && len(items) > 0 && items[len(items)-1].list {
		return false // Eval looks at the elements of the list
	}
	return !Incomplete(src) && len(parseErrors(src)) > 0
}
