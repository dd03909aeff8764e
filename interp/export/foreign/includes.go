package foreign

import (
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/symmrepl/symmrepl/kernels"
)

var directive = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]`)

// Headers returns the headers that texts include, directly or indirectly, by name, with those that
// come ahead of every text, and the names that no header has. C's headers and CUDA's are stand-ins
// of the same names.
func Headers(texts ...string) (headers map[string]string, missing []string) {
	known := map[string]string{}
	for _, f := range slices.Concat(kernels.CHeaders(), kernels.ToolkitHeaders(), kernels.LibraryHeaders(), kernels.Headers()) {
		known[f.Name] = f.Text
	}
	headers, unknown := map[string]string{}, map[string]bool{}
	var add func(from, text string)
	add = func(from, text string) {
		for _, m := range directive.FindAllStringSubmatch(text, -1) {
			name := m[1]
			if beside := path.Join(path.Dir(from), name); known[name] == "" && known[beside] != "" {
				name = beside
			}
			content, is := known[name]
			if _, done := headers[name]; done {
				continue
			}
			if !is {
				unknown[name] = unknown[name] || from == ""
				continue
			}
			headers[name] = content
			add(name, content)
		}
	}
	for _, text := range append(texts, "#include \"stdint.h\"\n#include \"symm.cuh\"\n#include \"symm/abi.cuh\"\n") {
		add("", text)
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		if unknown[name] {
			missing = append(missing, name)
		}
	}
	return headers, missing
}
