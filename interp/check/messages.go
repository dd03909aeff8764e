package check

import (
	"cmp"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// AsCalled replaces the names of packages in a message by the names that cells use: symm.Tensor,
// not symmem.Tensor. Of several names of a package it uses the shortest. It does not change quoted
// text.
func (k *Checker) AsCalled(msg string, imports map[string]string) string {
	shortest := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(imports), shortest) {
		own := k.pkgs.Package(imports[name]).Name()
		if own == name || !strings.Contains(msg, own+".") || imports[own] != "" || k.scope.objects[own] != nil {
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

// TypeName returns the text of a type with the package names that cells use.
func TypeName(t types.Type) string {
	return types.TypeString(t, func(pkg *types.Package) string {
		if pkg.Path() == PackageName {
			return ""
		}
		if pkg.Path() == SymmemPath {
			return symmemName
		}
		return pkg.Name()
	})
}
