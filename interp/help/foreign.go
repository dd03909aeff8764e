package help

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/docs"
	"github.com/symmrepl/symmrepl/kernels/reference"
)

// Other libraries have other names for symmem's operations. They are found without a prefix and in
// their spelling; foreign.txt has symmem's names for them, or the reason why there is none.

// foreignPrefixes are the prefixes of the names in programs, the longest first.
var foreignPrefixes = []string{
	"torch.ops.symm_mem.", "torch.distributed._symmetric_memory.", "torch.distributed._functional_collectives.",
	"torch.distributed.", "torch.cuda.", "torch.",
	"_SymmetricMemory.", "symm_mem.", "funcol.", "dist.",
}

//go:embed foreign.txt
var foreignText string

// foreignTable has the rows of foreign.txt.
type foreignTable struct {
	says     map[string]string // by name
	folded   map[string]string // by name without case and underscores
	patterns []foreignPattern
}

// foreignPattern is a row for names that match.
type foreignPattern struct {
	name *regexp.Regexp
	says string
}

var foreign = sync.OnceValue(func() foreignTable {
	t := foreignTable{says: map[string]string{}, folded: map[string]string{}}
	for line := range strings.Lines(foreignText) {
		names, says, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(names) {
			if strings.Contains(name, "*") {
				pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, `\w*`) + "$"
				t.patterns = append(t.patterns, foreignPattern{regexp.MustCompile(pattern), says})
				continue
			}
			t.says[name] = says
			if fold := spelling.Fold(name); t.folded[fold] == "" {
				t.folded[fold] = says
			}
		}
	}
	return t
})

// noHeaders begins the text about a name for kernels that the headers lack.
const noHeaders = "none: the headers for kernels have no "

// foreignSays returns the text about a name of another library, without a prefix; "" if the name is
// unknown.
func foreignSays(name string) string {
	t := foreign()
	if says := t.says[name]; says != "" {
		return says
	}
	for _, p := range t.patterns {
		if !p.name.MatchString(name) {
			continue
		}
		if strings.Contains(p.says, "for kernels") {
			if e := reference.Find(name); e == nil {
				return noHeaders + name
			} else if strings.HasSuffix(e.Header, "/missing.h") {
				return e.Text()
			}
		}
		return p.says
	}
	return t.folded[spelling.Fold(name)]
}

// foreignName matches a row that has nothing but a name here.
var foreignName = regexp.MustCompile(`^symm\.\w+$`)

// foreignHint returns a hint for a name of another library, "" for other names.
func foreignHint(name string) string {
	says := foreignSays(name)
	switch {
	case foreignName.MatchString(says):
		return didYouMean([]string{says})
	case strings.HasPrefix(says, noHeaders):
		if like := spelling.Similar(name, reference.Names()); len(like) > 0 {
			return didYouMean(like)
		}
	case strings.HasPrefix(says, "h.") && !strings.Contains(says, "h :="):
		return says + ", with h := symm.Rendezvous(t)"
	}
	return says
}

// isForeign reports whether a name is surely not one of a cell: it has underscores, or the prefix of
// a library.
func isForeign(name string) bool {
	return strings.Contains(name, "_") || strings.HasPrefix(name, "nccl")
}

// foreignMember returns a hint for member, a name of another library, which is no member of the
// package called name. It returns "" if the package is not symmem, or has the member in another
// spelling.
func (k *suggester) foreignMember(name, member string) string {
	path := k.checker.Imports()[name]
	pkg, err := k.checker.Packages().Import(path)
	if path != check.SymmemPath || err != nil {
		return ""
	}
	for _, m := range exportedNames(pkg) {
		if spelling.Fold(m) == spelling.Fold(member) {
			return ""
		}
	}
	return foreignHint(member)
}

// foreignAPI matches a function or method of symmem in a row.
var foreignAPI = regexp.MustCompile(`\b(symm|h|t)\.([A-Z]\w*)`)

// foreignDoc returns the documentation of symmem's counterpart of another library's function.
func foreignDoc(arg string) (string, bool) {
	bare := arg
	for _, prefix := range foreignPrefixes {
		if rest, ok := strings.CutPrefix(arg, prefix); ok && rest != "" {
			bare = rest
			break
		}
	}
	name := strings.TrimSuffix(bare, "_") // two_shot_all_reduce_
	says := foreignSays(bare)
	if m := foreignAPI.FindStringSubmatch(says); m != nil {
		n := map[string]string{"symm": "", "h": "Handle.", "t": "Tensor."}[m[1]] + m[2]
		if decl, text, ok := docs.Lookup(check.SymmemPath, n); ok {
			return entry(decl, text) + docMethods(check.SymmemPath, n), true
		}
	}
	for _, n := range []string{bare, name, "Handle." + name, "Tensor." + name} {
		if text, ok := folded(check.SymmemPath, n); ok {
			return text, true
		}
	}
	return says, says != "" && !strings.HasPrefix(says, noHeaders)
}
