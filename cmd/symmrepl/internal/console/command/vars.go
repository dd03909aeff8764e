package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func vars() console.Command {
	return console.Command{
		Name: "vars", Group: looking, Where: console.TargetRanks, WhileStopped: true,
		Help: `show the variables of the session: name, type, size, value
A variable that is not the same on all ranks has a line for each of its values, with the ranks that hold it. The size is
an estimate of all memory that the variable refers to; for a tensor it is the size of its data in device memory. The
value of a tensor of two dimensions is a table of its corners. While ranks stand at a breakpoint, their local variables
come first.`,
		Run: runVars,
	}
}

// runVars prints one table for all ranks, with a line for each name, type, size and value.
func runVars(ctx context.Context, c *console.Call) console.Outcome {
	q := session.Query{Topic: session.TopicVars, Columns: c.Request.Columns}
	if c.Console.Stop() != nil {
		q.Topic = session.TopicLocals
	}
	answers, err := c.Inspect(ctx, q)
	if err != nil {
		return c.Fail(err)
	}
	for i := range answers {
		answers[i].Variables = append(answers[i].Locals, answers[i].Variables...)
	}
	vars := session.FoldVariables(answers)
	rows := [][]string{{"ranks", "name", "type", "size", "value"}}
	for _, v := range vars {
		rows = append(rows, []string{session.FormatRanks(v.Ranks), v.Name, v.Type, formatBytes(v.Size), v.Value})
	}
	if c.Console.Size == 1 {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	reply := session.Reply{Errors: foldErrors(answers)}
	switch {
	case len(vars) > 0:
		c.PrintTable(rows)
	case len(reply.Errors) == 0:
		c.Print("no variables yet")
	}
	return c.Reply(reply)
}
