package reference

import (
	"slices"
	"strings"
)

// Plain returns the name of a type without its arguments, references, pointers, and words that
// qualify it: "symm::Handle" for "const symm::Handle&".
func Plain(typ string) string {
	typ, _, _ = strings.Cut(typ, "<")
	words := strings.FieldsFunc(typ, func(r rune) bool { return strings.ContainsRune(" \t\n*&()[]", r) })
	words = slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains([]string{"const", "volatile", "struct", "class", "typename", "static", "constexpr", "__restrict__",
			"__shared__", "__grid_constant__"}, w)
	})
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// Members returns the members of a type, those of its bases included, or of what an alias stands
// for.
func Members(typ string) []Member { return members(typ, 0) }

func members(typ string, depth int) []Member {
	e := Find(Plain(typ))
	if e == nil || depth > 8 {
		return nil
	}
	list := slices.Clone(e.Members)
	for _, base := range e.Bases {
		for _, m := range members(base, depth+1) {
			if !slices.ContainsFunc(list, func(own Member) bool { return own.Name == m.Name }) {
				list = append(list, m)
			}
		}
	}
	return list
}

// MemberOf returns a member of a type.
func MemberOf(typ, name string) (Member, bool) {
	list := Members(typ)
	i := slices.IndexFunc(list, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Member{}, false
	}
	return list[i], true
}
