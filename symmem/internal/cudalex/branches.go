package cudalex

import "strings"

// Truth is what is known of a condition.
type Truth uint8

// What may be known.
const (
	Unknown Truth = iota
	True
	False
)

// Known judges a condition of #if or #elif, without blanks; #ifdef X is "defined(X)" and #ifndef X is "!defined(X)". That "0" is
// false is known without it.
type Known func(condition string) Truth

// branches are the conditions that are open.
type branches struct {
	known Known
	open  []branch
}

type branch struct {
	excluded bool
	taken    bool // this branch or one before it certainly holds
}

// excluded reports whether the preprocessor certainly leaves out the text.
func (b *branches) excluded() bool {
	for _, o := range b.open {
		if o.excluded {
			return true
		}
	}
	return false
}

// step follows a directive.
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
		p, ok, _ := l.next() // what is not closed is the compiler's to refuse
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
