package recorded

import "fmt"

// Error is the reason why cells cannot be carried to another program or session.
type Error struct {
	Cell int // 0 if no particular cell is the reason
	Msg  string
	Hint string
}

func (e *Error) Error() string {
	text := e.Msg
	if e.Cell != 0 {
		text = fmt.Sprintf("cell %d: %s", e.Cell, e.Msg)
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}
