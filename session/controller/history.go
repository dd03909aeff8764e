package controller

import (
	"github.com/symmrepl/symmrepl/session"
)

// history holds the recorded cells of a session; the cell with the ID n is the nth. There may be
// very many cells, so an entry takes little more memory than its source.
type history []entry

type entry struct {
	source  string
	failed  string // the first line of the cell's error, "" if it succeeded
	columns int
	rest    *session.Cell // the cell's other fields, nil if none of them is set
}

// add records a cell as the user entered it. Functions of the front end that serve only the running
// cell are not kept.
func (h *history) add(cell session.Cell) {
	e := entry{source: cell.Source, columns: cell.Columns}
	rest := session.Cell{Name: cell.Name, Line: cell.Line, Typed: cell.Typed, Imports: cell.Imports, Program: cell.Program,
		Folder: cell.Folder, Ranks: cell.Ranks, Stop: cell.Stop}
	if rest.Name != "" || rest.Line != 0 || rest.Typed != "" || rest.Imports != nil || rest.Program != nil || rest.Folder != "" ||
		rest.Ranks != nil || rest.Stop != "" {
		e.rest = &rest
	}
	*h = append(*h, e)
}

// cells returns all cells; failed cells have the reason in Failed.
func (h history) cells() []session.Cell {
	cells := make([]session.Cell, len(h))
	for i, e := range h {
		if e.rest != nil {
			cells[i] = *e.rest
		}
		cells[i].ID, cells[i].Source, cells[i].Columns, cells[i].Failed = i+1, e.source, e.columns, e.failed
	}
	return cells
}
