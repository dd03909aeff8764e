package console

import (
	"context"
	"go/scanner"
	"go/token"
	"strings"
	"time"
	"unicode"

	"github.com/symmrepl/symmrepl/session"
)

// IsQuestion reports whether an entry asks for an explanation of a name, as symm.Empty? and
// ?symm.Empty do. No Go begins or ends like a question.
func IsQuestion(entry string) bool {
	entry = strings.TrimSpace(entry)
	other := func(r rune) bool {
		return !strings.ContainsRune("._/:%", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return (strings.HasSuffix(entry, "?") || strings.HasPrefix(entry, "?")) && Asked(entry) != "" && !strings.ContainsFunc(Asked(entry), other)
}

// Asked returns the subject of a question.
func Asked(question string) string { return strings.Trim(question, "? \t\n") }

// answer prints an explanation.
func (c *Console) answer(ctx context.Context, r Request, question string) Outcome {
	name := Asked(question)
	text := c.Explain(ctx, name, len(name))
	if text == "" {
		r.Printer.Fail("nothing is known of %s%s", name, c.meant(ctx, name))
		return Failed
	}
	r.Printer.Print(FitText(text, r.Columns))
	return Done
}

// meant lists known names similar to an unknown one, after a comma.
func (c *Console) meant(ctx context.Context, name string) string {
	answers, err := c.Session.Inspect(ctx, c.firstTarget(), session.Query{Topic: session.TopicDoc, Arg: name})
	if err != nil || len(answers) == 0 || answers[0].Err == nil || answers[0].Err.Hint == "" {
		return ""
	}
	return "; " + answers[0].Err.Hint
}

// explainWithin bounds how long the user waits for an explanation. The first one reads the reference
// of kernels, which takes longer than candidates may.
const explainWithin = 5 * time.Second

// Explain returns a text about the name at a position in a notebook's cell, in bytes: a command's
// help, the documentation of Go, or a type. If there is none, it explains the function in whose
// arguments the position is. Inside of a kernel's text it explains what the kernel can use. It
// returns "" if it finds nothing.
func (c *Console) Explain(ctx context.Context, entry string, at int) string {
	if cmd, err := c.Find(c.commandAt(entry, at)); err == nil {
		return cmd.Describe()
	}
	ctx, cancel := context.WithTimeout(ctx, explainWithin)
	defer cancel()
	text, begin, ok := snippet(entry)
	in := at - begin
	if !ok || in < 0 {
		text, in, ok = rawStringAt(entry, at)
	}
	if ok {
		for _, n := range placesAt(text, in) {
			answers, err := c.Session.Inspect(ctx, c.firstTarget(), session.Query{Topic: session.TopicDoc, Arg: n.name, Snippet: text[:n.at]})
			if err == nil && len(answers) > 0 && answers[0].Err == nil && answers[0].Text != "" {
				return answers[0].Text
			}
		}
	}
	for _, name := range namesAt(entry, at) {
		for _, topic := range []session.Topic{session.TopicDoc, session.TopicType} {
			answers, err := c.Session.Inspect(ctx, c.firstTarget(), session.Query{Topic: topic, Arg: name})
			if err == nil && len(answers) > 0 && answers[0].Err == nil && answers[0].Text != "" {
				return answers[0].Text
			}
		}
	}
	return ""
}

// commandAt returns the name of a command that contains or ends at a position, or "".
func (c *Console) commandAt(text string, at int) string {
	entry := strings.TrimLeft(c.LastEntry(text[:at]), " \t\n")
	if !isCommand(entry) || strings.ContainsAny(entry[1:], " \t\n%") {
		return ""
	}
	end := at
	for end < len(text) && inName(text[end]) {
		end++
	}
	return entry[1:] + text[at:end]
}

// namesAt returns the qualified name that contains or ends at a position, and the names of the
// functions in whose arguments the position is, the innermost first.
func namesAt(text string, at int) []string {
	var names []string
	for _, p := range placesAt(text, at) {
		names = append(names, p.name)
	}
	return names
}

// place is a qualified name, and where it begins.
type place struct {
	name string
	at   int
}

func placesAt(text string, at int) []place {
	var names []place
	for at >= 0 {
		start, end := at, at
		for end < len(text) && inName(text[end]) {
			end++
		}
		for start > 0 && (inName(text[start-1]) || text[start-1] == '.' || start > 1 && text[start-2:start] == "::" || text[start-1] == ':' && start < end && text[start] == ':') {
			start--
		}
		name := strings.TrimLeft(text[start:end], ".:")
		begin := end - len(name)
		if name = strings.TrimRight(name, ".:"); name != "" && (name[0] < '0' || name[0] > '9') {
			names = append(names, place{name, begin})
		}
		at = opener(text[:start])
	}
	return names
}

// inName reports whether a byte may be part of a name. Bytes of characters beyond ASCII may.
func inName(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// opener returns the position of the last parenthesis that text leaves open, or -1. Parentheses in
// literals and comments do not count.
func opener(text string) int {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	open := []int{-1}
	for {
		switch pos, tok, _ := s.Scan(); {
		case tok == token.LPAREN:
			open = append(open, file.Offset(pos))
		case tok == token.RPAREN && len(open) > 1:
			open = open[:len(open)-1]
		case tok == token.EOF:
			return open[len(open)-1]
		}
	}
}

// rawStringAt returns the contents of the raw string around a position, and the position in it. The
// string need not be complete.
func rawStringAt(text string, at int) (contents string, in int, ok bool) {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, lit := s.Scan()
		begin := file.Offset(pos) + 1
		if tok == token.EOF || begin > at {
			return "", 0, false
		}
		if tok != token.STRING || !strings.HasPrefix(lit, "`") {
			continue
		}
		contents, _, _ = strings.Cut(text[begin:], "`") // lit has no carriage returns
		if at <= begin+len(contents) {
			return contents, at - begin, true
		}
	}
}
