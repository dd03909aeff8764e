package console

import "strings"

// NeedsMore reports whether more lines are expected after these.
func (c *Console) NeedsMore(entry string) bool {
	source, isCell := c.code(entry)
	return isCell && c.Incomplete(source)
}

// Malformed reports whether no further lines can make an entry valid.
func (c *Console) Malformed(entry string) bool {
	source, isCell := c.code(entry)
	return isCell && c.Invalid(source)
}

// code returns the Go in an entry: all of it, or the lines below `%%rank [0,2]`, or the code of a
// command. isCell is false if the entry has none.
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
		_, source, hasCode := strings.Cut(entry, "\n")
		if !hasCode {
			// Only the magic line so far: the code is still to come.
			return "{", true
		}
		return source, true
	}
	return entry, true
}
