package interp

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// asCalled writes the names of packages in a message as cells call them, which may import them under other names: symm.Tensor, not symmem.Tensor.
// What the message quotes stays. in.mu is held.
func (in *Interp) asCalled(msg string, imports map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		own := in.pkgs.pkg(imports[name]).Name()
		if own == name || !strings.Contains(msg, own+".") || imports[own] != "" || in.scope.objects[own] != nil {
			continue
		}
		quotedOrNamed := regexp.MustCompile(`"([^"\\]|\\.)*"|\b` + own + `\.\b`)
		msg = quotedOrNamed.ReplaceAllStringFunc(msg, func(s string) string {
			if s[0] == '"' {
				return s
			}
			return name + "."
		})
	}
	return msg
}
