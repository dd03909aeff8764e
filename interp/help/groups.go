package help

import (
	"go/types"
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// ofGroup matches a call that returns a team of the world, as hints of package symmem write it.
var ofGroup = regexp.MustCompile(`\bg\.(LSA|Rail)\(\)`)

// GroupCalled writes g.LSA() in a hint as symm.LSA(), unless the session has a group that is called g.
func (h *Guide) GroupCalled(hint string) string {
	if v, ok := h.checker.Objects()["g"].(*types.Var); ok && check.SymmType(v.Type()) == "Group" {
		return hint
	}
	for name, path := range h.checker.Imports() {
		if path == check.SymmemPath {
			return ofGroup.ReplaceAllString(hint, name+".$1()")
		}
	}
	return hint
}

// groupNameHint returns a hint for the name of a group where a group is expected: Rendezvous(t, "tp").
func (k *suggester) groupNameHint(msg string) string {
	m := cannotUse.FindStringSubmatch(msg)
	if m == nil || m[2] != "string" || !strings.HasSuffix(m[3], ".Option") && !strings.HasSuffix(m[3], ".Group") {
		return ""
	}
	return k.symmem() + ".GroupNamed(" + m[1] + ") is the group of that name, which " + k.symmem() + ".NewNamedGroup makes"
}
