package cudalex

import "strings"

// Truth is the known value of a condition.
type Truth uint8

// Possible truths.
const (
	Unknown Truth = iota
	True
	False
)

// Known evaluates a condition of #if or #elif, given without blanks; #ifdef X is "defined(X)" and
// #ifndef X is "!defined(X)". It need not know that "0" is false.
type Known func(condition string) Truth

// branches has the open conditions.
type branches struct {
	known Known
	open  []branch
}

type branch struct {
	excluded bool
	taken    bool // the condition of this branch or of an earlier one is certainly true
}

// excluded reports whether the preprocessor certainly excludes the text.
func (b *branches) excluded() bool {
	for _, o := range b.open {
		if o.excluded {
			return true
		}
	}
	return false
}

// step updates the open conditions for a directive.
func (b *branches) step(directive string) {
	name, condition := split(directive)
	switch name {
	case "ifdef":
		name, condition = "if", "defined("+condition+")"
	case "ifndef":
		name, condition = "if", "!defined("+condition+")"
	}
	if name == "if" {
		b.open = append(b.open, branch{})
	}
	if len(b.open) == 0 {
		return
	}
	top := &b.open[len(b.open)-1]
	switch name {
	case "if", "elif":
		truth := b.judge(condition)
		top.excluded = top.taken || truth == False
		top.taken = top.taken || truth == True
	case "else":
		top.excluded = top.taken
	case "endif":
		b.open = b.open[:len(b.open)-1]
	}
}

func (b *branches) judge(condition string) Truth {
	if condition == "0" {
		return False
	}
	if b.known == nil {
		return Unknown
	}
	return b.known(condition)
}

// split returns a directive's name and the rest without blanks and comments.
func split(directive string) (name, rest string) {
	var b strings.Builder
	l := lexer{src: directive, pos: len("#")}
	for {
		p, ok, _ := l.next() // the compiler reports unterminated text
		if !ok {
			return name, b.String()
		}
		if p.Kind > Punct {
			continue
		}
		if name == "" {
			name = p.Text
		} else {
			b.WriteString(p.Text)
		}
	}
}
