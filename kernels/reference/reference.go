// Package reference has the documentation of what kernels can use: the functions, types and macros
// of symm.cuh and nccl_device.h, and what CUDA has, as far as every device has it.
//
// The data was made from the comments of the headers by package devicepage, together with
// docs/kernels.md; `go generate ./symmem/internal/devicepage` makes both. :doc, the completion of
// words in snippets and the page show the same data.
package reference

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// The data is a Reference as JSON.
//
//go:embed reference.json.gz
var packed []byte

// Reference is all that is known, in the order of the page.
type Reference struct {
	Headers []Header
	Entries []Entry
}

// Header is a file that snippets can include, or one of the emulator's, whose names need no header.
type Header struct {
	Name, Text string
	BuiltIn    bool `json:",omitempty"`
}

// Entry is one name.
type Entry struct {
	Name   string // "symm::put", "ncclGin", "__shfl_sync"
	Kind   string // "function", "type", "constant" or "macro"
	Header string
	Decls  []string // one for each overload
	Texts  []string // the comments
	Group  int      // entries of a header that share a comment have the same number
	// Internal names belong to the headers themselves. They can be looked up, and are listed
	// nowhere.
	Internal bool     `json:",omitempty"`
	Members  []Member `json:",omitempty"` // of a type
	Bases    []string `json:",omitempty"` // of a type, or what an alias stands for
	Gives    string   `json:",omitempty"` // the type that a function returns
}

// Member is a field or a function of a type.
type Member struct {
	Name, Kind, Decl string
	Text             string `json:",omitempty"`
	Gives            string `json:",omitempty"`
}

// All returns the data. It must not be changed.
func All() *Reference { return &opened().Reference }

type index struct {
	Reference
	byName  map[string]*Entry
	headers map[string]*Header
}

var opened = sync.OnceValue(func() *index {
	all := &index{byName: map[string]*Entry{}, headers: map[string]*Header{}}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(r).Decode(&all.Reference)
	}
	if err != nil {
		panic("reference: the data is damaged: " + err.Error())
	}
	for i := range all.Entries {
		all.byName[all.Entries[i].Name] = &all.Entries[i]
	}
	for i := range all.Headers {
		all.headers[all.Headers[i].Name] = &all.Headers[i]
	}
	return all
})

// home is the namespace of symm.cuh.
const home = "symm::"

// Find returns the entry of a name: "symm::put", or "put" and "ncclGin". It returns nil if there is
// none.
func Find(name string) *Entry {
	all := opened()
	if e := all.byName[name]; e != nil {
		return e
	}
	return all.byName[home+name]
}

// Lookup returns the declarations and the comment of a name. A member is found with its type:
// "symm::Handle::pad".
func Lookup(name string) (decl, text string, ok bool) {
	e := Find(name)
	for e == nil && strings.Contains(name, "::") {
		name = name[:strings.LastIndex(name, "::")]
		e = Find(name)
	}
	if e == nil || name == "" {
		return "", "", false
	}
	decls, text := e.Decls, e.Text()
	if e.Kind == "type" && len(e.Members) == 0 && len(e.Bases) == 1 {
		if of := Find(Plain(e.Bases[0])); of != nil && of != e {
			decls, text = slices.Concat(decls, of.Decls), strings.TrimSpace(text+"\n\n"+of.Text())
		}
	}
	return "// " + e.Source() + "\n" + strings.Join(decls, "\n"), text, true
}

// Source returns the header, or "built in".
func (e *Entry) Source() string {
	if h := opened().headers[e.Header]; h != nil && h.BuiltIn {
		return "built in"
	}
	return e.Header
}

// Text returns the comment, or that of the header if the name has none.
func (e *Entry) Text() string {
	if len(e.Texts) > 0 {
		return strings.Join(e.Texts, "\n\n")
	}
	if h := opened().headers[e.Header]; h != nil && !h.BuiltIn {
		return h.Text
	}
	return ""
}

// Names returns the names that Lookup knows and that are listed, in alphabetical order.
func Names() []string {
	var names []string
	for _, e := range All().Entries {
		if !e.Internal {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Within returns the entries of a namespace, such as "symm::", in the order of the page.
func Within(namespace string) []*Entry {
	var list []*Entry
	for i := range All().Entries {
		e := &All().Entries[i]
		if rest, ok := strings.CutPrefix(e.Name, namespace); ok && !e.Internal && !strings.Contains(rest, "::") {
			list = append(list, e)
		}
	}
	return list
}
