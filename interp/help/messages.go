package help

import (
	"cmp"
	"fmt"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// conversionHint returns a hint for a message of go/types about mismatched types.
func conversionHint(msg string) string {
	if m := mismatched.FindStringSubmatch(msg); m != nil {
		if isNumeric(m[1]) && isNumeric(m[2]) {
			return fmt.Sprintf("convert one of them, by %s(…) or %s(…)", m[1], m[2])
		}
		return ""
	}
	if m := truncated.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("the other operand is of type %s: convert that one, by float64(…)", m[1])
	}
	if m := severalValues.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("name every value, or drop it by _: v, _ := %s", m[1])
	}
	m := cannotUse.FindStringSubmatch(msg)
	if m == nil {
		return ""
	}
	switch expr, from, to := m[1], m[2], m[3]; {
	case from == to:
		return fmt.Sprintf("there are two types called %s: a variable keeps the one that it was declared with; declare it again", to)
	case isNumeric(from) && isNumeric(to):
		return fmt.Sprintf("%s(%s) converts it", to, expr)
	case from == "int" && to == "string":
		return fmt.Sprintf("strconv.Itoa(%s) is its text", expr)
	case isNumeric(from) && to == "string":
		return fmt.Sprintf("fmt.Sprint(%s) is its text", expr)
	case from == "string" && isNumeric(to):
		return "package strconv reads numbers from text"
	case from == "[]byte" && to == "string", from == "string" && to == "[]byte":
		return fmt.Sprintf("%s(%s) converts it", to, expr)
	}
	return ""
}

func isNumeric(name string) bool {
	t, ok := types.Universe.Lookup(name).(*types.TypeName)
	if !ok {
		return false
	}
	basic, ok := t.Type().Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// syntaxHint returns a hint for a syntax error; missing are the closing brackets that lack if the
// cell ends too early.
func syntaxHint(e *session.Error, missing string) string {
	line := strings.TrimSpace(e.Source)
	if missing != "" {
		return "the cell ends with open brackets: add " + missing
	}
	if hint := cmp.Or(launchHint(line), pythonHint(line)); hint != "" {
		return hint
	}
	switch {
	case strings.HasPrefix(line, "while "), strings.HasPrefix(line, "while("):
		return "Go's loops all begin with for: for x < 10 { … }"
	case strings.HasPrefix(line, "for ("), strings.HasPrefix(line, "for("):
		return "no parentheses, and := declares: for i := 0; i < n; i++ { … }, or for i := range n { … }"
	case strings.HasPrefix(line, "if ") && strings.Contains(e.Msg, "expected ';', found "),
		strings.HasPrefix(line, "if(") && strings.Contains(e.Msg, "expected ';', found "):
		return "an if needs braces, also around one statement: if x < y { … }"
	case strings.HasPrefix(line, "if ") && strings.Contains(e.Msg, "unexpected newline, expecting {"),
		strings.HasPrefix(line, "for ") && strings.Contains(e.Msg, "unexpected newline, expecting {"):
		return "the opening brace belongs at the end of the line before it"
	case strings.HasPrefix(line, "func ") && strings.Contains(e.Msg, "expected ';', found ','"):
		return "several results stand in parentheses: func f(n int) (int, int) { … }"
	case strings.HasPrefix(line, "package "):
		if line != "package main" && !strings.HasPrefix(line, "package main;") {
			return "cells have no package clause; a file of package main is run by symmrepl run FILE and :load FILE"
		}
		return "cells have no package clause and no func main: statements stand by themselves; symmrepl run FILE and :load FILE run a program"
	case strings.HasPrefix(line, "else"):
		return "else belongs on the line of the brace before it: } else {"
	case strings.Contains(e.Msg, "U+003F '?'"):
		return "Go has no ?: operator; use if and else"
	case strings.HasSuffix(e.Msg, "found and"), strings.HasSuffix(e.Msg, "found or"), strings.HasSuffix(e.Msg, "found is"):
		return "&& is and, || is or, == compares"
	case strings.Contains(e.Msg, "rune literal"):
		return "text is written in double quotes or backquotes; '…' is one character"
	case strings.Contains(e.Msg, "found '++'"), strings.Contains(e.Msg, "found '--'"):
		return "x++ and x-- are statements of their own, written after the variable"
	case strings.Contains(e.Msg, "found assignment"), strings.Contains(e.Msg, "cannot use ") && strings.Contains(e.Msg, " as value"):
		return "== compares, = assigns"
	case strings.Contains(e.Msg, "semicolon or newline before {"), strings.Contains(e.Msg, "unexpected newline, expected {"):
		return "the opening brace belongs at the end of the line before it"
	case strings.Contains(e.Msg, "before newline"):
		return "a line that goes on ends in a comma, also the last one before a closing bracket on its own line"
	}
	return ""
}
