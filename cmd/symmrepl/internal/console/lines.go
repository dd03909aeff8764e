package console

import "strings"

// NeedsMore reports whether more lines are expected after these.
func (c *Console) NeedsMore(entry string) bool {
	if text, _, ok := snippet(entry); ok {
		return !endsSnippet(text)
	}
	source, isCell := c.code(entry)
	return isCell && c.Incomplete(source)
}

// Malformed reports whether no further lines can make an entry valid.
func (c *Console) Malformed(entry string) bool {
	_, _, isSnippet := snippet(entry)
	source, isCell := c.code(entry)
	return isCell && !isSnippet && c.Invalid != nil && c.Invalid(source)
}

// Parses reports whether code may parse as it is, as far as the console can tell.
func (c *Console) Parses(code string) bool {
	return (c.Incomplete == nil || !c.Incomplete(code)) && (c.Invalid == nil || !c.Invalid(code))
}

// code returns the Go in an entry: all of it, or the code of a command, or the code for which the
// lines below `%%rank [0,2]` and its kind stand. isCell is false if the entry has none.
func (c *Console) code(entry string) (source string, isCell bool) {
	trimmed := strings.TrimSpace(entry)
	switch {
	case strings.HasPrefix(trimmed, "$"), IsQuestion(trimmed):
		return "", false
	case isCommand(trimmed):
		name, arg, _ := splitCommand(trimmed)
		cmd, _ := c.Find(name)
		return cmd.Code(arg)
	case strings.HasPrefix(trimmed, magic):
		return c.magicCode(entry), true
	}
	return entry, true
}
