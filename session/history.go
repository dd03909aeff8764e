package session

// history is the cells that a session has recorded; that with the ID n is the nth. There may be very many, so that one takes little more than its source.
type history []entry

type entry struct {
	source  string
	failed  string // the first line of why it failed, "" if it did not
	columns int
	rest    *Cell // the other fields, nil if none of them is set
}

// add records a cell as the user entered it. What a front end gives along for while it runs is not kept.
func (h *history) add(cell Cell) {
	e := entry{source: cell.Source, columns: cell.Columns}
	rest := Cell{Name: cell.Name, Line: cell.Line, Program: cell.Program, Folder: cell.Folder, Ranks: cell.Ranks, Stop: cell.Stop}
	if rest.Name != "" || rest.Line != 0 || rest.Program != nil || rest.Folder != "" || rest.Ranks != nil || rest.Stop != "" {
		e.rest = &rest
	}
	*h = append(*h, e)
}

// cells returns all cells, those that failed with the reason.
func (h history) cells() []Cell {
	cells := make([]Cell, len(h))
	for i, e := range h {
		if e.rest != nil {
			cells[i] = *e.rest
		}
		cells[i].ID, cells[i].Source, cells[i].Columns, cells[i].Failed = i+1, e.source, e.columns, e.failed
	}
	return cells
}
