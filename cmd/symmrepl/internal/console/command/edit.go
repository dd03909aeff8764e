package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func edit() console.Command {
	return console.Command{
		Name: "edit", Args: "[N|new]", Group: cells, Where: console.TargetRanks, Yields: true,
		Help: `edit a cell in your editor, and run it as a new cell
VISUAL or EDITOR names the editor, else it is vi. ":edit" opens the last cell, ":edit 8" cell 8, ":edit new" an empty one.
The saved text is shown and runs when the editor ends; nothing runs if the text is unchanged or empty, or if the editor
fails, as vi does after :cq. A cell for some ranks begins with its line "%%rank [0,2]". Up recalls the edited text.`,
		Complete: completeCell,
		Run:      runEdit,
	}
}

// newCell is the argument that asks for an empty cell.
const newCell = "new"

// completeCell completes the number of a cell, or the word for an empty one.
func completeCell(ctx context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
	candidates, word := completeNumber(ctx, c, arg)
	if strings.HasPrefix(newCell, arg) {
		candidates = append([]session.Candidate{{Name: newCell, Kind: "cell"}}, candidates...)
	}
	return candidates, word
}

// completeNumber completes the number of a cell.
func completeNumber(ctx context.Context, c *console.Console, arg string) (candidates []session.Candidate, word string) {
	if cells, err := c.Session.History(ctx); err == nil {
		for _, cell := range cells {
			candidates = append(candidates, session.Candidate{Name: strconv.Itoa(cell.ID), Kind: "cell"})
		}
	}
	return slices.DeleteFunc(candidates, func(c session.Candidate) bool { return !strings.HasPrefix(c.Name, arg) }), arg
}

func runEdit(ctx context.Context, c *console.Call) console.Outcome {
	if c.Request.Edit == nil {
		return c.Fail(errors.New("an editor needs a terminal, which only the prompt has"))
	}
	source, err := cellToEdit(ctx, c)
	if err != nil {
		return c.Fail(err)
	}
	edited, err := c.Request.Edit(ctx, source)
	switch {
	case err != nil:
		return c.Fail(fmt.Errorf("nothing was run: %w", err))
	case strings.TrimSpace(edited) == "":
		c.Note("nothing was run: the cell is empty")
		return console.Done
	case strings.TrimSpace(edited) == strings.TrimSpace(source):
		c.Note("nothing was run: the cell is as it was")
		return console.Done
	}
	c.Print(edited)
	r := c.Request
	r.Source = edited
	return c.Console.Run(ctx, r)
}

// cellToEdit returns the source of the cell that the argument names, as an entry, with a line break
// at its end.
func cellToEdit(ctx context.Context, c *console.Call) (string, error) {
	if c.Arg == newCell {
		return "", nil
	}
	cells, err := c.Console.Session.History(ctx)
	if err != nil {
		return "", err
	}
	if c.Arg == "" && len(cells) == 0 {
		return "", nil
	}
	i := len(cells) - 1
	if c.Arg != "" {
		n, err := strconv.Atoi(c.Arg)
		if err != nil {
			return "", fmt.Errorf("the number of a cell is expected, not %q", c.Arg)
		}
		if i = slices.IndexFunc(cells, func(cell session.Cell) bool { return cell.ID == n }); i < 0 {
			return "", fmt.Errorf("there is no cell %d; :history shows the numbers", n)
		}
	}
	source := strings.TrimRight(cellfile.Source(cells[i]), "\n") + "\n"
	if cells[i].Ranks != nil && !slices.Equal(cells[i].Ranks, c.Console.Target()) {
		source = "%%rank [" + session.FormatRanks(cells[i].Ranks) + "]\n" + source
	}
	return source, nil
}
