package console

import (
	"context"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/symmrepl/symmrepl/internal/gotokens"
	"github.com/symmrepl/symmrepl/session"
)

// IsQuestion reports whether an entry asks for an explanation of a name, as symm.Empty? and
// ?symm.Empty do. No Go begins or ends like a question.
func IsQuestion(entry string) bool {
	entry = strings.TrimSpace(entry)
	other := func(r rune) bool {
		return !strings.ContainsRune("._/:%", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return (strings.HasSuffix(entry, "?") || strings.HasPrefix(entry, "?")) && Asked(entry) != "" &&
		!strings.ContainsFunc(Asked(entry), other)
}

// Asked returns the subject of a question.
func Asked(question string) string { return strings.Trim(question, "? \t\n") }

// answer prints an explanation.
func (c *Console) answer(ctx context.Context, r Request, question string) Outcome {
	name := Asked(question)
	text := c.ExplainAt(ctx, name, len(name), DetailOf(question))
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

// valuesWithin bounds how long an explanation waits for the values of a variable on all ranks.
const valuesWithin = 2 * time.Second

// Explain returns a text about the name at a position in a notebook's cell, in bytes: a command's
// help, the documentation of Go, or a type. If there is none, it explains the function in whose
// arguments the position is. Inside of a kernel's text it explains the names that the kernel can
// use. It returns "" if it finds nothing.
func (c *Console) Explain(ctx context.Context, entry string, at int) string {
	return c.ExplainAt(ctx, entry, at, Full)
}

// Detail is the extent of an explanation.
type Detail int

const (
	Brief Detail = iota // of a variable its value, and not the methods of its type
	Full                // all of the documentation
	// of a variable its value; and the source, where it is known: of names that cells define, and
	// of functions of kernels' headers
	WithSource
)

// DetailOf returns the detail that a question asks for: with two marks, as half??, also the source.
func DetailOf(question string) Detail {
	if strings.Contains(question, "??") {
		return WithSource
	}
	return Full
}

// ExplainAt is Explain with some detail.
func (c *Console) ExplainAt(ctx context.Context, entry string, at int, detail Detail) string {
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
			if text := c.explainBy(ctx, session.Query{Topic: session.TopicDoc, Arg: n.name, Snippet: text[:n.at]}, detail); text != "" {
				return text
			}
		}
	}
	for _, name := range namesAt(entry, at) {
		for _, topic := range []session.Topic{session.TopicDoc, session.TopicType} {
			if text := c.explainBy(ctx, session.Query{Topic: topic, Arg: name}, detail); text != "" {
				return text
			}
		}
	}
	return ""
}

// explainBy returns the answer to a query about a name as an explanation, "" if there is none.
func (c *Console) explainBy(ctx context.Context, q session.Query, detail Detail) string {
	q.Source = q.Topic == session.TopicDoc && detail == WithSource
	answers, err := c.Session.Inspect(ctx, c.firstTarget(), q)
	if err != nil || len(answers) == 0 || answers[0].Err != nil || answers[0].Text == "" {
		return ""
	}
	a := answers[0]
	parts := []string{a.Text}
	if len(a.Variables) > 0 && detail != Full {
		declaration, about, _ := strings.Cut(a.Text, "\n\n")
		if detail == Brief {
			about, _, _ = strings.Cut(opaque.ReplaceAllString(about, ""), methods)
		}
		parts = []string{declaration, c.values(ctx, q), about}
	}
	if source := strings.Trim(a.Source, "\n"); source != "" {
		parts = append(parts, "Source:", "    "+strings.ReplaceAll(source, "\n", "\n    "))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n\n")
}

// methods begins the list of a type's methods in its documentation.
const methods = "\n\nfunc ("

// opaque is the declaration of a structure of which users see no field.
var opaque = regexp.MustCompile(`^type \w+ struct \{\n *// contains filtered or unexported fields\n\}\n\n`)

// values shows the value of a variable: once if it is equal on the ranks that cells run on,
// otherwise with the ranks. q asks for the variable's documentation. Ranks that do not answer soon
// are left out.
func (c *Console) values(ctx context.Context, q session.Query) string {
	ranks := c.Target()
	if ranks == nil {
		ranks, _ = c.Ranks("all")
	}
	ctx, cancel := context.WithTimeout(ctx, valuesWithin)
	defer cancel()
	answers, _ := c.Session.Inspect(ctx, ranks, q)
	var lines []string
	for _, v := range session.FoldVariables(answers) {
		prefix := ""
		if v.Differs {
			prefix = session.Prefix(v.Ranks, c.Size)
		}
		for line := range strings.Lines(v.Value) {
			lines = append(lines, "    "+prefix+strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
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
		for start > 0 && (inName(text[start-1]) || text[start-1] == '.' || start > 1 && text[start-2:start] == "::" ||
			text[start-1] == ':' && start < end && text[start] == ':') {
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
	open := []int{-1}
	for t := range gotokens.All(text) {
		switch {
		case t.Kind == token.LPAREN:
			open = append(open, t.At)
		case t.Kind == token.RPAREN && len(open) > 1:
			open = open[:len(open)-1]
		}
	}
	return open[len(open)-1]
}

// rawStringAt returns the contents of the raw string around a position, and the position in it. The
// string need not be complete.
func rawStringAt(text string, at int) (contents string, in int, ok bool) {
	for t := range gotokens.All(text) {
		begin := t.At + 1
		if begin > at {
			break
		}
		if t.Kind != token.STRING || t.Text[0] != '`' {
			continue
		}
		contents, _, _ = strings.Cut(text[begin:], "`") // the token has no carriage returns
		if at <= begin+len(contents) {
			return contents, at - begin, true
		}
	}
	return "", 0, false
}
