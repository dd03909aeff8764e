package console

// Exports for the tests of package console_test, which import the commands; the commands import
// this package.

// Part is an entry of a notebook's cell and the line it begins on.
type Part struct {
	Text string
	Line int
}

// Split splits a notebook's cell.
func (c *Console) Split(cell string) (parts []Part) {
	for _, p := range c.split(cell) {
		parts = append(parts, Part{p.text, p.line})
	}
	return parts
}

// NamesAt is namesAt.
var NamesAt = namesAt

// Busy is busy.
var Busy = busy
