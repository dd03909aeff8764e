package check

import "go/types"

// exported returns what a package exports, by name. A package that cannot be imported exports nothing: its import is an error of its own.
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

// importDot makes the names of a package usable without a qualifier: they mean that until a cell defines them.
func (k *Checker) importDot(path string) {
	k.scope.dots = append(k.scope.dots, path)
	for name, obj := range k.pkgs.exported(path) {
		k.scope.dotted[name] = obj
		if k.scope.objects[name] == nil {
			k.visible[name] = obj
		}
	}
}
