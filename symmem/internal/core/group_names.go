package symmem

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// NewNamedGroup is [Runtime.NewGroup] with a name, by which [Runtime.GroupNamed] finds the group. The
// name has letters, digits and the signs - _ . : / only, and no other group may have it. It is free
// again after the group was freed or has lost a member. Members must give the same name.
func (rt *Runtime) NewNamedGroup(name string, ranks ...int) *Group {
	const op = "NewNamedGroup"
	rt.hostCall(op)
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.:/", r)
	}) {
		panic(rt.misuse(op, "name", `give one such as "tp"`, "a name has letters, digits and the signs - _ . : / alone, not %q", name))
	}
	if g := rt.namedGroup(name); g != nil {
		panic(rt.misuse(op, "name", "GroupNamed finds it; Free makes the name free again", "%v has the name %q", g, name))
	}
	g := rt.newGroup(op, name, ranks)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.titled == nil {
		rt.titled = map[string]*Group{}
	}
	rt.titled[name] = g
	return g
}

// GroupNamed returns the group that this rank made by NewNamedGroup under a name, or for "world" the
// group of all ranks. It is not collective. The result is an option of operations like any group.
func (rt *Runtime) GroupNamed(name string) *Group {
	const op = "GroupNamed"
	rt.refuseClosed(op)
	if g := rt.namedGroup(name); g != nil {
		return g
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	known := []string{worldName}
	for _, n := range slices.Sorted(maps.Keys(rt.titled)) {
		if rt.titled[n].stale.Load() == nil {
			known = append(known, n)
		}
	}
	panic(rt.misuse(op, "name", fmt.Sprintf("NewNamedGroup(%q, 0, 1) makes one of the ranks 0 and 1", name),
		"no group has the name %q; there are %s", name, strings.Join(known, ", ")))
}

// namedGroup returns the group of a name that can be used, or nil.
func (rt *Runtime) namedGroup(name string) *Group {
	if name == worldName {
		return rt.all
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if g := rt.titled[name]; g != nil && g.stale.Load() == nil {
		return g
	}
	return nil
}
