package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/session"
)

// Command is a row of the table of commands.
type Command struct {
	Name  string
	Args  string // as help shows them; the first is optional if it begins with '['
	Group string // the heading that help shows it under
	Where Where
	Help  string // its first line is the summary

	// Insists reports whether "!" may follow the name of a command that takes nothing else.
	Insists bool

	// Yields reports whether a prefix of the name that is also a prefix of other commands means one
	// of the others.
	Yields bool
	// YieldsToAll is Yields also for prefixes of commands that yield themselves.
	YieldsToAll bool

	// WhileStopped reports whether the command may be entered while the cell that the prompt has
	// entered stands at a breakpoint.
	WhileStopped bool

	// TakesCode reports whether the argument ends with a cell's code, after CodeAfter words. Such a
	// command continues on the next line while its code is incomplete, its code is completed as in
	// a cell, and in a notebook it takes the rest of the cell if its line has no code.
	TakesCode bool
	CodeAfter int
	// CodeIn, unless nil, returns the code in an argument that may begin with something else, and
	// false if the argument has no code.
	CodeIn func(arg string) (code string, ok bool)

	// Complete, unless nil, returns the candidates for word, the end of the argument at the cursor.
	// Code is completed without it.
	Complete func(ctx context.Context, c *Console, arg string) (candidates []session.Candidate, word string)

	Run func(ctx context.Context, c *Call) Outcome
}

// Where is the place at which a command runs, in the words of help.
type Where string

const (
	Here        Where = "here"         // in this process
	AllRanks    Where = "all ranks"    // on every rank
	TargetRanks Where = "target ranks" // on the ranks of `:on`
	TheSession  Where = "the session"  // in the controller
)

// Usage returns the command line of the command, as help shows it.
func (cmd Command) Usage() string { return strings.TrimSpace(":" + cmd.Name + " " + cmd.Args) }

// Summary returns the first line of the help.
func (cmd Command) Summary() string {
	summary, _, _ := strings.Cut(cmd.Help, "\n")
	return summary
}

// Describe returns all that help says about the command.
func (cmd Command) Describe() string {
	text := cmd.Usage() + "  " + cmd.Summary()
	if _, more, ok := strings.Cut(cmd.Help, "\n"); ok {
		text += "\n\n" + more
	}
	return text + "\n\nRuns on: " + string(cmd.Where)
}

// Code returns the code at the end of an argument. ok is false if the command takes none, or the
// words before it are not complete.
func (cmd Command) Code(arg string) (source string, ok bool) {
	if !cmd.TakesCode {
		return "", false
	}
	if cmd.CodeIn != nil {
		return cmd.CodeIn(arg)
	}
	for range cmd.CodeAfter {
		if _, arg, ok = cutSpace(strings.TrimLeft(arg, space)); !ok {
			return "", false
		}
	}
	return arg, true
}

// Shortest returns the shortest beginning of a command's name that stands for it.
func (c *Console) Shortest(cmd Command) string {
	for n := 1; n < len(cmd.Name); n++ {
		if meant, err := c.Find(cmd.Name[:n]); err == nil && meant.Name == cmd.Name {
			return cmd.Name[:n]
		}
	}
	return cmd.Name
}

// Find returns a command by its name or by a beginning of it. A beginning of several names stands for
// the only one of them that does not yield.
func (c *Console) Find(name string) (Command, error) {
	var found []Command
	var names []string
	for _, cmd := range c.Commands {
		if cmd.Name == name {
			return cmd, nil
		}
		if name != "" && strings.HasPrefix(cmd.Name, name) {
			found, names = append(found, cmd), append(names, ":"+cmd.Name)
		}
	}
	for _, yields := range []func(Command) bool{
		func(cmd Command) bool { return cmd.YieldsToAll }, func(cmd Command) bool { return cmd.Yields || cmd.YieldsToAll },
	} {
		if older := slices.DeleteFunc(slices.Clone(found), yields); len(older) > 0 {
			found = older
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		var meant string
		if like := spelling.Similar(name, c.CommandNames()); len(like) > 0 {
			meant = "did you mean :" + strings.Join(like, " or :") + "? "
		}
		return Command{}, fmt.Errorf("no command is called %q; %s:help lists them", name, meant)
	}
	return Command{}, fmt.Errorf("%q may be any of %s", name, strings.Join(names, " "))
}

// CommandNames returns the names of all commands.
func (c *Console) CommandNames() []string {
	var names []string
	for _, cmd := range c.Commands {
		names = append(names, cmd.Name)
	}
	return names
}

// IsCommand reports whether an entry is a command. No Go begins like a command.
func IsCommand(entry string) bool { return isCommand(strings.TrimSpace(entry)) }

func isCommand(trimmed string) bool {
	if strings.HasPrefix(trimmed, magic) {
		return strings.HasPrefix(trimmed, magic+"cd ") // as a file of cells has it
	}
	return strings.HasPrefix(trimmed, ":") || strings.HasPrefix(trimmed, "%")
}

// space separates a command's name and the words of its argument.
const space = " \t\r\n"

// cutSpace cuts text around its first white space.
func cutSpace(text string) (before, after string, found bool) {
	i := strings.IndexAny(text, space)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// Following returns the text behind a word of a command, without the white space between. Text that
// begins on a later line keeps its indentation: errors in code cite the columns that the user sees.
func Following(text string) string {
	rest := strings.TrimLeft(text, space)
	blank := text[:len(text)-len(rest)]
	if end := strings.LastIndexByte(blank, '\n'); end >= 0 && rest != "" {
		return blank[end+1:] + rest
	}
	return rest
}

// splitCommand splits a command, which begins with ':', '%' or "%%", into its name and its
// argument. ":save! f.go" is ":save !f.go". hasArg reports whether anything follows the name.
func splitCommand(entry string) (name, arg string, hasArg bool) {
	name, arg, hasArg = cutSpace(strings.TrimLeft(strings.TrimPrefix(entry[1:], "%"), space))
	if hasArg {
		arg = Following(entry[len(entry)-len(arg)-1:])
	}
	if bare, insists := strings.CutSuffix(name, "!"); insists {
		name, arg = bare, "!"+arg
	}
	return name, arg, hasArg
}

// command runs a command.
func (c *Console) command(ctx context.Context, r Request, entry string) Outcome {
	name, arg, _ := splitCommand(entry)
	cmd, err := c.Find(name)
	if err != nil {
		r.Printer.Fail("%v", err)
		return Failed
	}
	if arg == "" && cmd.Args != "" && !strings.HasPrefix(cmd.Args, "[") {
		r.Printer.Fail(":%s needs %s; :help %s says more", cmd.Name, cmd.Args, cmd.Name)
		return Failed
	}
	if arg != "" && cmd.Args == "" && !(cmd.Insists && arg == "!") {
		r.Printer.Fail(":%s takes nothing, but was given %q", cmd.Name, arg)
		return Failed
	}
	r.Line = cmp.Or(r.Line, 1) + strings.Count(strings.TrimSuffix(entry, arg), "\n")
	return cmd.Run(ctx, &Call{Console: c, Request: r, Command: cmd, Arg: arg})
}
