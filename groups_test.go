package symmrepl

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corePackage is the package whose files are in groups.
const corePackage = "symmem/internal/core"

// filesOf are the groups of the files of core, from bottom to top: a file uses functions, types and
// variables of its own group and of the groups before. runtime.go, whose struct has a field for most of
// them, is in none.
var filesOf = []struct{ group, files string }{
	// What a rank holds, which ranks there are, and how they meet on the host.
	{"a world", "abort allocation backend calls cell contents dtype errors failure group hosts meeting membership network network_state " +
		"network_underway observers progress sanitize sharing storage stream synchronize tensor"},
	// Memory that members map, and what parts in packages of their own know of it.
	{"shared memory", "members multicast network_group peers symmetric symmetric_free team unheld workspace"},
	// The steps of a call, and the objects of which the methods are calls.
	{"calls", "allocate arithmetic box calculating call call_operator carriers copies elements event graph handle launches lent observe " +
		"operand operands options pipes pool readers region tile views"},
	// The ways on which calls go.
	{"carriers", "carrier_kernels carrier_library inner lanes nccl nccl_calls nccl_comm nccl_life nccl_native nccl_pointer nccl_puts " +
		"network_onesided nvshmem onesided signal windows work"},
	// Values of tensors for people and files.
	{"values", "export files host print save statistics"},
	// What calls do and why, how long they take, and for whom they wait.
	{"questions", "bounds busy compare departures explain measure signals_unawaited slow state trace traced waits"},
	// What begins and ends groups and the world.
	{"life and death", "group_life group_names lost network_connect recover rows survivors world"},
}

// upwards are uses of a group that stands above the user's, by file. The list only gets shorter.
var upwards = map[string]string{
	"allocation":       "handle",
	"call":             "compare",
	"carrier_library":  "compare",
	"graph":            "nccl_comm",
	"group":            "nccl nccl_comm unheld workspace",
	"handle":           "nccl windows",
	"network_underway": "call",
	"operands":         "windows",
	"progress":         "waits",
	"sanitize":         "bounds",
	"stream":           "call",
	"synchronize":      "waits",
	"workspace":        "copies",
}

// TestFileGroups holds that the files of core use each other in one direction.
func TestFileGroups(t *testing.T) {
	group := map[string]int{}
	for i, g := range filesOf {
		for _, file := range strings.Fields(g.files) {
			if _, twice := group[file]; twice {
				t.Errorf("%s.go is in two groups", file)
			}
			group[file] = i
		}
	}
	used := usesOf(t, "./"+corePackage)
	for _, file := range slices.Sorted(maps.Keys(used)) {
		if _, ok := group[file]; !ok && file != "runtime" && file != "doc" {
			t.Errorf("%s/%s.go is in no group", corePackage, file)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(group)) {
		if used[file] == nil {
			t.Errorf("%s is in a group and does not exist", file)
			continue
		}
		except := strings.Fields(upwards[file])
		for _, of := range slices.Sorted(maps.Keys(used[file])) {
			if up := of != "runtime" && group[of] > group[file]; up && !slices.Contains(except, of) {
				t.Errorf("%s.go (%s) uses %s of %s.go, which is above (%s)", file, filesOf[group[file]].group, used[file][of], of,
					filesOf[group[of]].group)
			}
		}
		for _, of := range except {
			if used[file][of] == "" || group[of] <= group[file] {
				t.Errorf("the list lets %s use %s, which needs no exception", file, of)
			}
		}
	}
}

// usesOf returns for each file of a package, by its name without .go, the files that it uses, with the
// name of something that it uses there. Fields do not count.
func usesOf(t *testing.T, folder string) map[string]map[string]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly", folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports := map[string]string{}
	var root listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			root = p
		}
	}
	fset, used := token.NewFileSet(), map[string]map[string]string{}
	var files []*ast.File
	for _, name := range root.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(root.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		used[strings.TrimSuffix(name, ".go")] = map[string]string{}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	from := importer.ForCompiler(fset, "gc", func(p string) (io.ReadCloser, error) { return os.Open(exports[p]) })
	pkg, err := (&types.Config{Importer: from}).Check(root.ImportPath, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	at := func(p token.Pos) string { return strings.TrimSuffix(filepath.Base(fset.Position(p).Filename), ".go") }
	for id, o := range info.Uses {
		_, function := o.(*types.Func) // or a method
		if o.Pkg() != pkg || !function && o.Parent() != pkg.Scope() {
			continue
		}
		if user, of := at(id.Pos()), at(o.Pos()); user != of {
			if name := used[user][of]; name == "" || o.Name() < name {
				used[user][of] = o.Name()
			}
		}
	}
	return used
}

// oneWay are packages whose files need no groups: no file uses another that uses it in turn, by however
// many steps.
var oneWay = []string{"cmd/symmrepl/internal/cli", "cmd/symmrepl/internal/console/command", "cmd/symmrepl/internal/tutorial"}

// TestFilesOneWay holds that the files of such packages use each other in one direction.
func TestFilesOneWay(t *testing.T) {
	for _, folder := range oneWay {
		used := usesOf(t, "./"+folder)
		seen := map[string]bool{}
		var visit func(file string, path []string)
		visit = func(file string, path []string) {
			if i := slices.Index(path, file); i >= 0 {
				t.Errorf("%s: files use each other in a circle: %s", folder, strings.Join(append(path[i:], file), ", "))
				return
			}
			if seen[file] {
				return
			}
			for _, of := range slices.Sorted(maps.Keys(used[file])) {
				visit(of, append(path[:len(path):len(path)], file))
			}
			seen[file] = true
		}
		for _, file := range slices.Sorted(maps.Keys(used)) {
			visit(file, nil)
		}
	}
}
