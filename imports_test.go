package symmrepl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/symmrepl/symmrepl"

// part is a folder with all below it that is not a part of its own, and the other parts that its
// packages import.
type part struct {
	folder  string
	imports []string
}

// parts is the program from top to bottom: a part imports parts that stand below it only.
var parts = []part{
	// The program puts the others together.
	{"cmd/symmrepl", []string{"cmd/symmrepl/internal/cli"}},
	{"cmd/symmrepl/internal/cli", []string{"cmd/symmrepl/internal/addressroom", "cmd/symmrepl/internal/bench", "cmd/symmrepl/internal/cellfile",
		"cmd/symmrepl/internal/checking", "cmd/symmrepl/internal/companion", "cmd/symmrepl/internal/console", "cmd/symmrepl/internal/console/command", "cmd/symmrepl/internal/console/command/tour",
		"cmd/symmrepl/internal/debugadapter", "cmd/symmrepl/internal/jupyter", "cmd/symmrepl/internal/kerneltext", "cmd/symmrepl/internal/lending", "cmd/symmrepl/internal/mcp", "cmd/symmrepl/internal/opbench",
		"cmd/symmrepl/internal/render", "cmd/symmrepl/internal/script", "cmd/symmrepl/internal/serve", "cmd/symmrepl/internal/shadow",
		"cmd/symmrepl/internal/statedir", "cmd/symmrepl/internal/term", "cmd/symmrepl/internal/torchrun", "cmd/symmrepl/internal/tutorial", "cmd/symmrepl/internal/rank",
		"internal", "interp/check", "interp/export", "interp/replay", "session", "session/controller", "session/worker", "symmem", "symmem/compilers",
		"symmem/filediff", "symmem/foreign"}},
	{"cmd/symmrepl/internal/rank", []string{"cmd/symmrepl/internal/finding", "cmd/symmrepl/internal/lending", "internal", "interp", "session", "session/worker", "symmem"}},
	// Beside a program of Python: it makes the kernels that the program's own processes run.
	{"cmd/symmrepl/internal/companion", []string{"cmd/symmrepl/internal/finding", "cmd/symmrepl/internal/jsonlines", "session", "symmem/foreign"}},
	{"cmd/symmrepl/internal/torchrun", []string{"cmd/symmrepl/internal/finding", "cmd/symmrepl/internal/jsonlines", "cmd/symmrepl/internal/lending",
		"internal", "internal/bootstrap/userdir", "session", "session/fold",
		"session/inherit", "session/rankset", "session/watchdog", "session/wire", "symmem/foreign"}},
	{"cmd/symmrepl/internal/finding", []string{"session", "symmem", "symmem/foreign"}},
	{"cmd/symmrepl/internal/lending", []string{"cmd/symmrepl/internal/clients", "cmd/symmrepl/internal/jsonlines", "internal/bootstrap/userdir"}},
	{"cmd/symmrepl/internal/wheel", []string{"cmd/symmrepl/internal/jupyter", "cmd/symmrepl/internal/tutorial"}},

	// Front ends: they hold a session, and know neither the interpreter nor symmetric memory.
	{"cmd/symmrepl/internal/opbench", []string{"chart", "internal", "session"}},
	{"cmd/symmrepl/internal/bench", []string{"session"}},
	{"cmd/symmrepl/internal/term", []string{"cmd/symmrepl/internal/console", "cmd/symmrepl/internal/render", "cmd/symmrepl/internal/statedir",
		"internal", "session"}},
	{"cmd/symmrepl/internal/script", []string{"cmd/symmrepl/internal/console"}},
	{"cmd/symmrepl/internal/jupyter", []string{"cmd/symmrepl/internal/console", "cmd/symmrepl/internal/debugadapter",
		"cmd/symmrepl/internal/notebook", "cmd/symmrepl/internal/widget", "cmd/symmrepl/internal/zmtp", "internal",
		"internal/bootstrap/userdir", "session"}},
	{"cmd/symmrepl/internal/widget", []string{"cmd/symmrepl/internal/console", "cmd/symmrepl/internal/notebook", "session", "session/inband"}},
	{"cmd/symmrepl/internal/debugadapter", []string{"cmd/symmrepl/internal/clients", "cmd/symmrepl/internal/console",
		"cmd/symmrepl/internal/notebook", "cmd/symmrepl/internal/render", "internal", "session"}},
	{"cmd/symmrepl/internal/mcp", []string{".", "cmd/symmrepl/internal/clients", "cmd/symmrepl/internal/console",
		"cmd/symmrepl/internal/jsonlines", "cmd/symmrepl/internal/tutorial", "internal", "session"}},
	{"cmd/symmrepl/internal/serve", []string{"cmd/symmrepl/internal/console", "cmd/symmrepl/internal/jsonlines",
		"cmd/symmrepl/internal/notebook", "cmd/symmrepl/internal/render", "internal/bootstrap/userdir", "session"}},

	// Cases beside kernels: it holds a session for each number of ranks.
	{"cmd/symmrepl/internal/checking", []string{"cmd/symmrepl/internal/casefile", "cmd/symmrepl/internal/cellfile",
		"cmd/symmrepl/internal/kerneltext", "cmd/symmrepl/internal/render", "internal", "session"}},
	{"cmd/symmrepl/internal/casefile", nil},
	{"cmd/symmrepl/internal/kerneltext", []string{"internal", "kernels"}},

	// What front ends share: entries, then what they print, then leaves.
	{"cmd/symmrepl/internal/console/command", []string{"cmd/symmrepl/internal/cellfile", "cmd/symmrepl/internal/console",
		"cmd/symmrepl/internal/console/command/tour", "cmd/symmrepl/internal/render", "cmd/symmrepl/internal/shadow", "internal", "session"}},
	{"cmd/symmrepl/internal/console/command/tour", []string{"cmd/symmrepl/internal/console", "cmd/symmrepl/internal/render",
		"cmd/symmrepl/internal/statedir", "cmd/symmrepl/internal/tutorial", "session"}},
	{"cmd/symmrepl/internal/console", []string{"cmd/symmrepl/internal/cellfile", "cmd/symmrepl/internal/render",
		"cmd/symmrepl/internal/shadow", "internal", "session"}},
	{"cmd/symmrepl/internal/tutorial", []string{".", "cmd/symmrepl/internal/cellfile", "cmd/symmrepl/internal/render"}},
	{"cmd/symmrepl/internal/notebook", []string{"chart", "cmd/symmrepl/internal/render", "internal", "session"}},
	{"cmd/symmrepl/internal/render", []string{"chart", "internal", "session"}},
	{"cmd/symmrepl/internal/shadow", []string{"internal/bootstrap/userdir", "session"}},
	{"cmd/symmrepl/internal/cellfile", []string{"internal", "session"}},
	{"cmd/symmrepl/internal/clients", []string{"internal", "internal/bootstrap/userdir"}},
	{"cmd/symmrepl/internal/zmtp", []string{"internal"}},
	{"cmd/symmrepl/internal/jsonlines", nil},
	{"cmd/symmrepl/internal/statedir", nil},
	{"cmd/symmrepl/internal/addressroom", nil},

	// The measurements of make bench-interp.
	{"interp/internal/bench", []string{"interp", "session"}},

	// A session on one rank: interp is what session calls an Evaluator.
	{"interp", []string{"internal", "interp/check", "interp/help", "interp/internal", "interp/lower", "interp/run",
		"interp/run/contract", "interp/run/executions", "interp/run/faults", "interp/run/limits", "interp/run/native",
		"interp/run/stacks", "interp/run/standing", "interp/run/trees", "interp/symbols", "session", "session/inband", "symmem"}},
	{"interp/replay", []string{"interp/check", "interp/recorded", "interp/symbols", "session"}},
	{"interp/export", []string{".", "internal", "interp/check", "interp/export/modules", "interp/recorded", "interp/symbols", "kernels", "session"}},
	{"interp/recorded", []string{"interp/check", "interp/help", "session"}},
	{"interp/export/modules", nil},
	{"interp/lower", []string{"interp/check", "interp/generics", "interp/lower/typed", "interp/run/contract", "session"}},
	{"interp/lower/typed", nil},
	{"interp/run", []string{"internal", "interp/internal", "interp/run/contract", "interp/run/executions", "interp/run/faults",
		"interp/symbols", "session/inband"}},
	{"interp/run/executions", []string{"interp/check", "interp/internal/yaegi", "interp/run/contract", "interp/run/limits",
		"interp/run/native", "interp/run/shown", "interp/run/stacks", "interp/run/standing", "interp/run/trees", "session"}},
	{"interp/run/shown", []string{"display", "internal", "interp/run/stacks"}},
	{"interp/run/trees", []string{"interp/internal/yaegi", "interp/run/contract", "interp/run/faults", "interp/run/native",
		"interp/run/stacks", "interp/run/standing", "session/inband"}},
	{"interp/run/standing", []string{"interp/internal/yaegi", "interp/run/contract", "interp/run/stacks"}},
	{"interp/run/stacks", []string{"interp/internal", "interp/internal/yaegi", "interp/run/contract", "interp/run/faults", "session"}},
	{"interp/run/native", []string{"interp/check", "interp/internal", "interp/internal/yaegi", "interp/run/contract", "interp/run/faults"}},
	{"interp/run/limits", []string{"interp/run/faults"}},
	{"interp/run/faults", []string{"interp/internal/yaegi", "interp/run/contract"}},
	{"interp/run/contract", nil},
	{"interp/internal/yaegi", nil},
	{"interp/help", []string{"internal", "interp/check", "interp/docs", "kernels", "session"}},
	{"interp/check", []string{"internal", "interp/generics", "interp/internal", "session"}},
	{"interp/docs", []string{"interp/generics", "interp/symbols"}},
	{"interp/symbols", []string{"chart", "display", "interp/generics", "symmem", "symmem/expect"}},
	{"interp/generics", nil},
	{"interp/internal", nil},

	// Ranks in lockstep: a folder says which process runs its files.
	{"session/controller", []string{"internal", "internal/bootstrap", "internal/bootstrap/frame", "internal/bootstrap/heartbeat",
		"internal/bootstrap/launcher", "internal/bootstrap/rendezvous", "internal/bootstrap/userdir", "session",
		"session/fold", "session/hosts", "session/inherit", "session/rankset", "session/supervisor", "session/watchdog", "session/wire"}},
	{"session/hosts", []string{"internal/bootstrap/frame", "internal/bootstrap/heartbeat", "internal/bootstrap/launcher",
		"internal/bootstrap/rendezvous", "internal/bootstrap/userdir", "session", "session/fold", "session/inherit", "session/rankset",
		"session/supervisor", "session/wire"}},
	{"session/supervisor", []string{"internal", "internal/bootstrap/frame", "internal/bootstrap/launcher", "internal/bootstrap/rendezvous",
		"session", "session/inherit", "session/wire"}},
	{"session/worker", []string{"internal", "internal/bootstrap", "internal/bootstrap/frame", "internal/bootstrap/userdir", "session",
		"session/fold", "session/inband", "session/inherit", "session/wire"}},
	{"session/inherit", []string{"session"}},
	{"session/fold", []string{"session", "session/inband"}},
	{"session/watchdog", []string{"internal/bootstrap", "session", "session/rankset", "session/wire"}},
	{"session/wire", []string{"session"}},
	{"session", []string{"internal", "internal/bootstrap", "internal/bootstrap/heartbeat", "session/inband", "session/rankset"}},
	{"session/rankset", nil},

	// The API of cells and compiled programs, the devices behind it, and the code that runs there.
	{"symmem/expect", []string{"internal", "symmem", "symmem/expect/formula"}},
	{"symmem", []string{"internal", "internal/bootstrap", "internal/bootstrap/heartbeat", "internal/bootstrap/launcher",
		"internal/bootstrap/rendezvous", "internal/bootstrap/userdir",
		"kernels", "symmem/internal", "symmem/internal/core", "symmem/internal/core/launch",
		"symmem/internal/core/layout", "symmem/internal/core/networks", "symmem/internal/core/operators",
		"symmem/internal/core/places", "symmem/internal/devices", "symmem/internal/device"}},
	{"symmem/expect/formula", []string{"internal", "symmem/internal"}},
	{"symmem/foreign", []string{".", "symmem/internal/core/memory", "symmem/internal/core/waits", "symmem/internal/cpu", "symmem/internal/cuda", "symmem/internal/device"}},
	{"symmem/filediff", []string{"symmem/internal", "symmem/internal/core/measure"}},
	{"symmem/compilers", []string{"symmem/internal/cpu"}},
	{"symmem/internal/core", []string{"internal", "internal/bootstrap", "kernels", "symmem/internal",
		"symmem/internal/core/calculate", "symmem/internal/core/calls", "symmem/internal/core/copies",
		"symmem/internal/core/delays", "symmem/internal/core/files", "symmem/internal/core/launch",
		"symmem/internal/core/layout", "symmem/internal/core/libraries", "symmem/internal/core/measure", "symmem/internal/core/memory",
		"symmem/internal/core/nccl",
		"symmem/internal/core/networks", "symmem/internal/core/nvshmem", "symmem/internal/core/operators",
		"symmem/internal/core/places", "symmem/internal/core/sanitizer", "symmem/internal/core/seam", "symmem/internal/core/show",
		"symmem/internal/core/study", "symmem/internal/core/trace",
		"symmem/internal/core/waits", "symmem/internal/device", "symmem/internal/expression", "symmem/internal/net"}},
	{"symmem/internal/devices", []string{"internal", "symmem/internal", "symmem/internal/cpu", "symmem/internal/cuda", "symmem/internal/device"}},
	{"symmem/internal/devicepage", []string{"kernels", "symmem/internal/cpu", "symmem/internal/device"}},
	{"symmem/internal/cpu", []string{"kernels", "symmem/internal", "symmem/internal/device"}},
	{"symmem/internal/cuda", []string{"internal", "kernels", "symmem/internal", "symmem/internal/cuda/libs", "symmem/internal/device"}},
	{"symmem/internal/opspage", []string{"symmem/internal/core/operators"}},
	{"symmem/internal/core/calculate", []string{"internal", "symmem/internal", "symmem/internal/core/launch",
		"symmem/internal/core/operators", "symmem/internal/core/seam", "symmem/internal/device", "symmem/internal/expression"}},
	{"symmem/internal/core/study", []string{"internal", "symmem/internal", "symmem/internal/core/calls", "symmem/internal/core/operators",
		"symmem/internal/core/seam", "symmem/internal/device"}},
	{"symmem/internal/core/nvshmem", []string{"internal", "kernels", "symmem/internal/core/launch", "symmem/internal/core/libraries",
		"symmem/internal/core/operators", "symmem/internal/core/places", "symmem/internal/core/seam", "symmem/internal/core/waits",
		"symmem/internal/device"}},
	{"symmem/internal/core/networks", []string{"internal", "internal/bootstrap/launcher", "kernels", "symmem/internal/core/launch",
		"symmem/internal/core/seam", "symmem/internal/device", "symmem/internal/net"}},
	{"symmem/internal/core/libraries", []string{"internal", "symmem/internal/core/seam", "symmem/internal/device"}},
	{"symmem/internal/core/files", []string{"internal", "symmem/internal", "symmem/internal/core/seam"}},
	{"symmem/internal/core/seam", []string{"internal", "symmem/internal", "symmem/internal/core/calls", "symmem/internal/core/operators",
		"symmem/internal/core/places", "symmem/internal/device"}},
	{"symmem/internal/core/calls", []string{"symmem/internal", "symmem/internal/core/operators"}},
	{"symmem/internal/core/delays", []string{"symmem/internal/core/operators"}},
	{"symmem/internal/core/operators", nil},
	{"symmem/internal/core/show", []string{"internal", "symmem/internal"}},
	{"symmem/internal/core/measure", []string{"internal", "symmem/internal"}},
	{"symmem/internal/core/copies", []string{"kernels", "symmem/internal/core/launch", "symmem/internal/core/layout",
		"symmem/internal/core/waits", "symmem/internal/device"}},
	{"symmem/internal/core/launch", []string{"symmem/internal", "symmem/internal/device"}},
	{"symmem/internal/core/layout", []string{"kernels", "symmem/internal"}},
	{"symmem/internal/core/places", []string{"symmem/internal/device"}},
	{"symmem/internal/core/nccl", []string{"kernels", "symmem/internal/device"}},
	{"symmem/internal/core/memory", []string{"internal", "symmem/internal/device"}},
	{"symmem/internal/core/sanitizer", []string{"symmem/internal/device"}},
	{"symmem/internal/core/trace", []string{"internal", "symmem/internal/core/waits", "symmem/internal/device"}},
	{"symmem/internal/core/waits", []string{"kernels", "symmem/internal/device"}},
	{"symmem/internal/device", []string{"kernels"}},
	{"symmem/internal/expression", []string{"internal", "symmem/internal"}},
	{"symmem/internal/net", []string{"internal", "kernels", "symmem/internal/cuda/libs"}},
	{"symmem/internal/cuda/libs", nil},
	{"symmem/internal", []string{"internal"}},
	{"kernels", nil},

	// How processes find each other, for sessions and programs alike.
	{"internal/bootstrap", []string{"internal", "internal/bootstrap/frame", "internal/bootstrap/heartbeat", "internal/bootstrap/userdir"}},
	{"internal/bootstrap/rendezvous", []string{"internal", "internal/bootstrap/frame", "internal/bootstrap/heartbeat",
		"internal/bootstrap/launcher", "internal/bootstrap/userdir"}},
	{"internal/bootstrap/heartbeat", []string{"internal/bootstrap/frame"}},
	{"internal/bootstrap/launcher", []string{"internal"}},
	{"internal/bootstrap/userdir", nil},
	{"internal/bootstrap/frame", nil},

	// For cells, and for the programs that are exported from sessions.
	{"display", []string{"internal", "session/inband", "show"}},
	{"chart", []string{"internal"}},
	{"show", []string{"internal"}},

	// Parts that several of them share.
	{".", nil}, // the tutorials and the sources that the program carries
	{"session/inband", nil},
	{"internal", nil},
}

// Imports point one way: from a part to those that the table names, which stand below it.
func TestImports(t *testing.T) {
	order := map[string]int{}
	for i, p := range parts {
		order[p.folder] = i
	}
	found := map[string]map[string]string{} // part, part that it imports, a file that does
	for file, imported := range imports(t) {
		from := partOf(t, path.Dir(file), order)
		for _, folder := range imported {
			if to := partOf(t, folder, order); to != from {
				if found[from] == nil {
					found[from] = map[string]string{}
				}
				found[from][to] = file
			}
		}
	}
	for i, p := range parts {
		for _, to := range slices.Sorted(maps.Keys(found[p.folder])) {
			if !slices.Contains(p.imports, to) {
				t.Errorf("%s imports %s, which %s is not to", found[p.folder][to], to, p.folder)
			}
		}
		for _, to := range p.imports {
			if j, ok := order[to]; !ok || j <= i {
				t.Errorf("the table lets %s import %s, which does not stand below it", p.folder, to)
			}
			if found[p.folder][to] == "" {
				t.Errorf("the table lets %s import %s, which it does not", p.folder, to)
			}
		}
	}
}

// partOf returns the part that a folder belongs to: the one with the longest name that contains it.
func partOf(t *testing.T, folder string, order map[string]int) string {
	for at := folder; ; at = path.Dir(at) {
		if _, ok := order[at]; ok && (at != "." || folder == ".") {
			return at
		}
		if at == "." {
			t.Fatalf("the table has no part for %s", folder)
		}
	}
}

// sources lists the files of this module, but for tests.
func sources(t *testing.T) []string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	tops := map[string]bool{}
	for _, p := range parts {
		top, _, _ := strings.Cut(p.folder, "/")
		tops[top] = top != "." // whose files are there already
	}
	for top, walk := range tops {
		if !walk {
			continue
		}
		err := filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
			if e != nil && e.IsDir() && e.Name() == "testdata" {
				return fs.SkipDir
			}
			files = append(files, name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.DeleteFunc(files, func(name string) bool { return !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") })
}

// imports returns the folders of this module that each of its files imports. It leaves out tests
// and packages that help them.
func imports(t *testing.T) map[string][]string {
	list := map[string][]string{}
	for _, name := range sources(t) {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(f.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"testing"` }) {
			continue // it helps tests
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if folder, ours := strings.CutPrefix(imported, module); ours {
				list[name] = append(list[name], path.Clean("./"+strings.TrimPrefix(folder, "/")))
			}
		}
	}
	return list
}
