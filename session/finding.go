package session

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session/rankset"
)

// Finding is a mistake of a cell's kernels or calls, found by the sanitizer: see symmem.Sanitize.
// Instead of addresses and callers in a rank's process it has places in the user's text. It crosses
// the wire whole, and `--json` prints it.
type Finding struct {
	Kind     string   `json:"kind"`              // "race between ranks"
	Ranks    []int    `json:"ranks"`             // the ranks that found it; filled by the controller
	Cell     int      `json:"cell"`              // the cell in which it was found; filled by the controller
	Name     string   `json:"name"`              // of that cell, as positions cite it; filled by the controller
	Accesses []Access `json:"accesses"`          // the later one first; there may be one
	Memory   string   `json:"memory,omitempty"`  // the memory, and the place in it: "element 3 of f32[1000] of rank 1"
	Also     []string `json:"also,omitempty"`    // the memory in the same finding of other ranks, if it is another
	Order    string   `json:"order,omitempty"`   // what orders the accesses, and which order is missing
	Repair   string   `json:"repair,omitempty"`  // what to change
	Seed     int64    `json:"seed"`              // the seed that shows it again; 0 is the order without the sanitizer
	Allowed  string   `json:"allowed,omitempty"` // the comment that exempts it, with its place
	Again    string   `json:"-"`                 // the name of the earlier cell with which a front end has shown this finding already
}

// Access is an access to memory by threads of one kernel, or by the host.
type Access struct {
	Rank    int    `json:"rank"`
	Ranks   []int  `json:"ranks,omitempty"` // all ranks with this access in the same finding of any rank; nil: only Rank
	Op      string `json:"op"`              // "writes", "reads", "adds to", "waits at", "frees it"
	Bytes   int    `json:"bytes,omitempty"`
	Kernel  string `json:"kernel,omitempty"`   // "" for an access by the host
	At      string `json:"launched,omitempty"` // position of the launch or of the host's call, such as "cell[3]:1"
	Call    string `json:"call,omitempty"`     // the line of At, if Source is empty
	File    string `json:"file,omitempty"`     // position of the access; in a kernel of symmrepl's own operations, that kernel's file
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Source  string `json:"source,omitempty"` // the line
	Block   [3]int `json:"block"`
	Thread  [3]int `json:"thread"`
	Threads int    `json:"threads,omitempty"` // number of the rank's threads with the same access
}

// Place returns the position of the access in the user's text: "cell[3]:7:12". For an access of an
// operation it is the position of the call.
func (a Access) Place() string {
	if a.Source == "" && a.At != "" || a.File == "" {
		return a.At
	}
	return position(a.File, a.Line, a.Column)
}

func position(file string, line, column int) string {
	if column == 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}

// same returns the key of a finding: findings with the same kind at the same two places are one
// finding, whichever rank found it and in whichever order the accesses came. The key contains the
// lines, because a file that is run again may have other lines at these places.
func (f Finding) same() string {
	var places []string
	for _, a := range f.Accesses {
		places = append(places, a.Place()+" "+cmp.Or(a.Source, a.Call))
	}
	slices.Sort(places)
	return f.Kind + "\n" + strings.Join(places, "\n")
}

// By returns the ranks that made the access. The caller must not change the slice.
func (a Access) By() []int {
	if a.Ranks != nil {
		return a.Ranks
	}
	return []int{a.Rank}
}

// join adds the ranks and the memory of a finding that is the same.
func (f *Finding) join(o Finding) {
	f.Ranks = rankset.Union(f.Ranks, o.Ranks)
	f.Accesses = slices.Clone(f.Accesses) // replies have the slice, too
	for i := range f.Accesses {
		a, of := &f.Accesses[i], o.Accesses[i]
		if of.Place() != a.Place() { // the accesses came in the other order
			of = o.Accesses[len(o.Accesses)-1-i]
		}
		if by := rankset.Union(a.By(), of.By()); len(by) > 1 {
			a.Ranks = by
		}
	}
	f.Also = slices.Clone(f.Also)
	for _, memory := range append([]string{o.Memory}, o.Also...) {
		if memory != "" && memory != f.Memory && !slices.Contains(f.Also, memory) {
			f.Also = append(f.Also, memory)
		}
	}
}

// Findings are different findings, in the order in which they came.
type Findings struct {
	list []Finding
	of   map[string]int // by same
}

// Add adds a finding. If the list has it already, Add only adds its ranks, those of its accesses and
// its memory. It reports whether the finding was new.
func (fs *Findings) Add(f Finding) bool {
	key := f.same()
	if at, ok := fs.of[key]; ok {
		fs.list[at].join(f)
		return false
	}
	if fs.of == nil {
		fs.of = map[string]int{}
	}
	fs.of[key] = len(fs.list)
	f.Allowed = f.allowedBy()
	fs.list = append(fs.list, f)
	return true
}

// Get returns the finding that is the same as f, if there is one.
func (fs *Findings) Get(f Finding) (same Finding, ok bool) {
	at, ok := fs.of[f.same()]
	if ok {
		same = fs.list[at]
	}
	return same, ok
}

// List returns the findings.
func (fs *Findings) List() []Finding { return fs.list }

var allowComment = regexp.MustCompile(`//\s*symm:allow\s+([a-z ]+)(?:: *(.*))?$`)

// allowedBy returns the comment at one of the accesses that exempts the finding, with its place:
// `// symm:allow race: why that does no harm`, where "race" stands for all kinds that begin with
// this word.
func (f Finding) allowedBy() string {
	for _, a := range f.Accesses {
		m := allowComment.FindStringSubmatch(strings.TrimSpace(a.Source))
		if m != nil && strings.HasPrefix(f.Kind, strings.TrimSpace(m[1])) {
			allowed := position(a.File, a.Line, 0)
			if m[2] != "" {
				allowed += ": " + m[2]
			}
			return allowed
		}
	}
	return ""
}

// Sanitizing is the state of the sanitizer: see symmem.Runtime.Sanitize.
type Sanitizing struct {
	On   bool
	Seed int64 // seed of the order in which threads, blocks and ranks run; 0 while the sanitizer is off
}

// Sanitizer is the state of a session's sanitizer and its findings.
type Sanitizer struct {
	Sanitizing
	Findings []Finding // all findings of the session, each once
}
