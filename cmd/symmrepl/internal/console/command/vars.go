package command

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func vars() console.Command {
	return console.Command{
		Name: "vars", Args: "[PATTERN…]", Group: looking, Where: console.TargetRanks, WhileStopped: true,
		Help: `show the variables of the session by kind: name, type, size, value
With patterns, such as ":vars x* grad?", only the variables whose names match one of them: * stands for any characters,
? for one character, [a-c] for one of these. The value of a tensor of two dimensions is then a table of its corners;
without patterns all values take one line. ":vars *" shows all variables with their tables.
A variable that is not the same on all ranks has a line for each of its values, with the ranks that hold it. The size is
an estimate of all memory that the variable refers to; for a tensor it is the size of its data in device memory. While
ranks stand at a breakpoint, their local variables come first. In a session that is attached to a program of symmrepl
torchrun, the tensors that have names where the program stands come next: symm.FromTorch("NAME") returns one.`,
		Complete: completeGo,
		Run:      runVars,
	}
}

// runVars prints one table for all ranks, with a line for each name, type, size and value.
func runVars(ctx context.Context, c *console.Call) console.Outcome {
	patterns := strings.Fields(c.Arg)
	for _, p := range patterns {
		if err := checkPattern(p); err != nil {
			return c.Fail(err)
		}
	}
	q := session.Query{Topic: session.TopicVars, Columns: c.Request.Columns}
	if c.Console.Stop() != nil {
		q.Topic = session.TopicLocals
	}
	answers, err := c.Inspect(ctx, q)
	if err != nil {
		return c.Fail(err)
	}
	kinds := kindsOf(answers, patterns)
	reply := session.Reply{Errors: foldErrors(answers)}
	switch {
	case len(kinds) > 0:
		c.PrintTable(varsTable(kinds, c.Console.Size == 1, len(patterns) == 0))
	case len(reply.Errors) > 0:
	case len(patterns) > 0:
		c.Print("no name of a variable matches " + strings.Join(patterns, " ") + "; `:vars` shows all variables")
	default:
		c.Print("no variables yet")
	}
	return c.Reply(reply)
}

// checkPattern returns an error, with the right form, if the pattern is malformed.
func checkPattern(p string) error {
	if _, err := path.Match(p, ""); err == nil {
		return nil
	}
	if strings.HasSuffix(p, `\`) {
		return fmt.Errorf(`the pattern %s: a \ needs a character behind it`, p)
	}
	return fmt.Errorf("the pattern %s: a [ needs a ] behind at least one character, as in x[0-9]", p)
}

// variableKind holds the variables of a kind, in the order of their definition.
type variableKind struct {
	name string
	list []session.SharedVariable
}

// kindNames are the kinds of a session's variables, in the order of the table.
var kindNames = []string{"tensors", "handles", "kernels", "functions", "values"}

// ofSymm matches pointers to types of package symm, and slices, arrays and maps of these.
var ofSymm = regexp.MustCompile(`^(?:\[\d*\]|map\[\w+\])*\*symm\.(\w+)$`)

// kindOf returns the kind of a variable.
func kindOf(v session.Variable) string {
	of := ofSymm.FindStringSubmatch(v.Type)
	switch {
	case v.Tensor != nil || of != nil && of[1] == "Tensor":
		return "tensors"
	case of != nil && of[1] == "Kernel":
		return "kernels"
	case of != nil:
		return "handles"
	case strings.HasPrefix(v.Type, "func("):
		return "functions"
	}
	return "values"
}

// kindsOf returns the kinds of variables that ranks have, each with the variables whose names match
// one of the patterns; with no patterns, all. Local variables are the first kind.
func kindsOf(answers []session.Answer, patterns []string) (kinds []variableKind) {
	matches := func(v session.SharedVariable) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
			ok, _ := path.Match(p, v.Name)
			return ok
		})
	}
	add := func(name string, of func(v session.SharedVariable) bool, list []session.SharedVariable) {
		k := variableKind{name: name}
		for _, v := range list {
			if matches(v) && of(v) {
				k.list = append(k.list, v)
			}
		}
		if len(k.list) > 0 {
			kinds = append(kinds, k)
		}
	}
	locals := slices.Clone(answers)
	for i := range locals {
		locals[i].Variables = locals[i].Locals
	}
	every := func(session.SharedVariable) bool { return true }
	add("local", every, session.FoldVariables(locals))
	lent := slices.Clone(answers)
	for i := range lent {
		lent[i].Variables = lent[i].Lent
	}
	add("PyTorch", every, session.FoldVariables(lent))
	all := session.FoldVariables(answers)
	for _, name := range kindNames {
		add(name, func(v session.SharedVariable) bool { return kindOf(v.Variable) == name }, all)
	}
	return kinds
}

// varsTable returns the rows of the table of variables. The first row of each kind names the kind,
// if there are several. alone leaves the ranks out, and short leaves out the lines of a value below
// its first.
func varsTable(kinds []variableKind, alone, short bool) [][]string {
	rows := [][]string{{"kind", "ranks", "name", "type", "size", "value"}}
	for _, k := range kinds {
		for i, v := range k.list {
			row := []string{k.name, session.FormatRanks(v.Ranks), v.Name, v.Type, formatBytes(v.Size), v.Value}
			if i > 0 {
				row[0] = ""
			}
			if short {
				row[5], _, _ = strings.Cut(v.Value, "\n")
			}
			rows = append(rows, row)
		}
	}
	for i, row := range rows {
		if alone {
			row = slices.Delete(row, 1, 2)
		}
		if len(kinds) == 1 {
			row = row[1:]
		}
		rows[i] = row
	}
	return rows
}
