package session

// Trail holds the position of a worker's evaluator, in memory that outlives the worker: from it the
// supervisor learns the position of a worker that could not report it, because Go's runtime or the kernel
// has ended the worker. Positions are numbers of the evaluator.
type Trail struct {
	Mark, Call int          // the positions of the statement that runs and, if that belongs to another cell, of this cell's own statement
	Files      [2]TrailFile // files of the running cell; zero while no cell runs
}

// TrailFile maps positions to offsets in the text of a cell: positions from Base to Base+Size
// belong to the file, whose first Header bytes are not part of the text.
type TrailFile struct{ Base, Size, Header int }

// Offset returns the worker's offset in the text of the cell, -1 if it is not known.
func (t *Trail) Offset() int {
	for _, at := range []int{t.Mark, t.Call} {
		for _, f := range t.Files {
			if f.Base > 0 && at >= f.Base+f.Header && at <= f.Base+f.Size {
				return at - f.Base - f.Header
			}
		}
	}
	return -1
}
