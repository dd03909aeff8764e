package lower

import (
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
)

// facts are what the checker knows of a cell. Its methods answer questions, or refuse a construct; they change nothing.
type facts struct {
	checker *check.Checker
	c       *check.Cell
	info    *types.Info
}

// refusal is the panic by which lowering gives up on a construct.
type refusal struct {
	pos token.Pos
	msg string
}

// refuse gives up on a construct; what names it and says what to do instead.
func (l *facts) refuse(pos token.Pos, what string) { panic(refusal{pos, what}) }
