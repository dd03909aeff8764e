package console

import (
	"cmp"
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// magic begins the first line of a cell whose other lines are not simply Go for the ranks of `:on`:
// `%%rank [0,2]`, `%%cuda`, or the name of a command that takes code, such as `%%time`.
const magic = "%%"

// splitMagic splits a cell into the name and the argument of its first line, and the lines below.
// below is false if there are none yet.
func splitMagic(entry string) (name, arg, code string, below bool) {
	head, code, below := strings.Cut(strings.TrimLeft(entry, space), "\n")
	name, arg, _ = strings.Cut(strings.TrimSpace(head[len(magic):]), " ")
	if rest, ok := strings.CutPrefix(name, "rank["); ok {
		name, arg = "rank", strings.TrimSpace("["+rest+" "+arg)
	}
	return name, strings.TrimSpace(arg), code, below
}

// magic runs a cell whose first line begins with magic.
func (c *Console) magic(ctx context.Context, r Request, entry string) Outcome {
	name, arg, code, _ := splitMagic(entry)
	first := cmp.Or(r.Line, 1)
	cell := session.Cell{Source: code, Line: first + 1}
	switch {
	case name != "rank" && name != "cuda" && !c.isCellCommand(name):
		r.Printer.Fail("%%%%%s is unknown: cells begin with %%%%rank [0,2], %%%%cuda, or a command that takes code, as %%%%time%s", name, c.instead(name))
		return Failed
	case strings.TrimSpace(code) == "":
		r.Printer.Fail("%%%%%s: the cell's code is expected on the lines below", strings.TrimSpace(name+" "+arg))
		return Failed
	case name == "rank":
		ranks, err := c.Ranks(arg)
		if err != nil {
			r.Printer.Fail("%%%%rank: %v", err)
			return Failed
		}
		cell.Ranks = ranks
	case name == "cuda":
		source, err := compiling(arg, code)
		if err != nil {
			r.Printer.Fail("%%%%cuda: %v", err)
			return Failed
		}
		cell.Source, cell.Line = source, first
		cell.Typed = strings.TrimRight(strings.TrimSpace(magic+"cuda "+arg)+"\n"+code, space)
	default:
		return c.command(ctx, r, entry)
	}
	return OutcomeOf(c.cell(ctx, r, cell))
}

// isCellCommand reports whether a name is exactly the name of a command that takes code.
func (c *Console) isCellCommand(name string) bool {
	cmd, err := c.Find(name)
	return err == nil && cmd.Name == name && cmd.TakesCode
}

// magics returns the words that may follow magic, for completion.
func (c *Console) magics() []string {
	names := []string{"cd ", "cuda", "rank ["}
	for _, cmd := range c.Commands {
		if cmd.TakesCode {
			names = append(names, cmd.Name)
		}
	}
	return names
}

// magicCode returns the Go of a cell that begins with magic, as far as it was entered.
func (c *Console) magicCode(entry string) string {
	name, arg, code, below := splitMagic(entry)
	switch {
	case !below:
		return "{" // the code is still to come
	case name == "cuda":
		return "_ = symm.Compile(`\n" + code
	case c.isCellCommand(name):
		cmd, _ := c.Find(name)
		if source, ok := cmd.Code(arg + "\n" + code); ok {
			return source
		}
	}
	return code
}
