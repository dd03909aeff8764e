package check

import "go/types"

// exported returns the exported objects of a package, by name. For a package that cannot be
// imported it returns none; the import itself is reported as an error.
func (p *Packages) exported(path string) map[string]types.Object {
	out := map[string]types.Object{}
	pkg, err := p.Import(path)
	if err != nil {
		return out
	}
	for _, name := range pkg.Scope().Names() {
		if obj := pkg.Scope().Lookup(name); obj.Exported() {
			out[name] = obj
		}
	}
	return out
}

// importDot makes the names of a package usable without a qualifier, until a cell defines them.
func (k *Checker) importDot(path string) {
	k.scope.dots = append(k.scope.dots, path)
	for name, obj := range k.pkgs.exported(path) {
		k.scope.dotted[name] = obj
		if k.scope.objects[name] == nil {
			k.visible[name] = obj
		}
	}
}
