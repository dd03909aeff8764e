package help

import (
	"go/types"
	"regexp"

	"github.com/symmrepl/symmrepl/interp/check"
)

// ofGroup matches a call that returns a team of the world, as hints of package symmem write it.
var ofGroup = regexp.MustCompile(`\bg\.(LSA|Rail)\(\)`)

// GroupCalled writes g.LSA() in a hint as symm.LSA(), unless the session has a group that is called g.
func (h *Guide) GroupCalled(hint string) string {
	if v, ok := h.checker.Objects()["g"].(*types.Var); ok {
		if group := symmemType(h.checker, "Group"); group != nil && types.Identical(v.Type(), types.NewPointer(group)) {
			return hint
		}
	}
	for name, path := range h.checker.Imports() {
		if path == check.SymmemPath {
			return ofGroup.ReplaceAllString(hint, name+".$1()")
		}
	}
	return hint
}
