package console

// What the tests outside of the package see of it; they need the commands, which import it.

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
