package interp

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestEmbed checks that //go:embed initialises variables of scripts with the contents of files, as
// the go command does.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "hello", "sub/b.txt": "b", "sub/_c.txt": "c", "sub/.d": "d"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out.txt": "/etc/hosts", "in.txt": "a.txt", "away": "/etc", "sub2": "sub"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "long.txt"), make([]byte, session.MaxSource+1), 0o644); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "main.go")
	if err := os.WriteFile(script, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	in := open(t, Options{})
	eval := func(source string) session.Result {
		return evaluate(in, session.Cell{ID: 1, Name: script, Source: source})
	}
	r := eval(`import ("embed"; "io/fs")

type S string

//go:embed a.txt
var text string

// bytes is declared below a comment.
//
//go:embed "a.txt"
var bytes []byte

var n = len(text) + len(named)

var (
	//go:embed a.txt
	named S
	other = "//go:embed x"
)

//go:embed sub a.txt
//go:embed all:sub
var files embed.FS

//go:embed sub
var few embed.FS

func names(f embed.FS) (list string) {
	fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error { list += p + " "; return err })
	b, err := f.ReadFile("sub/b.txt")
	return list + string(b) + fmt.Sprint(err)
}
fmt.Sprint(text, string(bytes), n, named, " ", names(files), " ", names(few))`)
	if want := `"hellohello10hello . a.txt sub sub/.d sub/_c.txt sub/b.txt b<nil> . sub sub/b.txt b<nil>"`; r.Err != nil || r.Value != want {
		t.Errorf("%s, %v; want %s", r.Value, r.Err, want)
	}
	for source, want := range map[string]string{
		"//go:embed a.txt\nvar s string":                          `it works with import "embed"`,
		"import \"embed\"\n//go:embed no.txt\nvar s string":       "pattern no.txt: there is no such file",
		"import \"embed\"\n//go:embed ../x\nvar s string":         "pattern ../x: it is a path below the folder",
		"import \"embed\"\n//go:embed out.txt\nvar s string":      "out.txt is a symbolic link",
		"import \"embed\"\n//go:embed in.txt\nvar s string":       "in.txt is a symbolic link",
		"import \"embed\"\n//go:embed away/hosts\nvar s string":   "away is a symbolic link",
		"import \"embed\"\n//go:embed away\nvar s embed.FS":       "away",
		"import \"embed\"\n//go:embed sub2/b.txt\nvar s embed.FS": "sub2 is a symbolic link",
		"import \"embed\"\n//go:embed long.txt\nvar s string":     "has more than 16 MiB, which is the limit for an embedded file",
		"import \"embed\"\n//go:embed sub/*.txt\nvar s []byte":    "2 files for one variable; embed.FS holds several",
		"import \"embed\"\n//go:embed a.txt\nvar s, u string":     "it applies to one variable",
		"import \"embed\"\n//go:embed a.txt\nvar s string = \"\"": "it applies to one variable",
		"import \"embed\"\n//go:embed a.txt\nx := 1\nvar s int":   "the declaration of a variable is expected on the line below",
		"import \"embed\"\n//go:embed a.txt\nvar k int":           "cannot convert",
	} {
		if r := eval(source); r.Err == nil || !strings.Contains(r.Err.Msg, want) {
			t.Errorf("%q: %v, want %q", source, r.Err, want)
		}
	}
	at := evaluate(in, session.Cell{ID: 2, Source: "import \"embed\"\n//go:embed a.txt\nvar s string"}).Err
	if at == nil || at.Line != 2 || !strings.Contains(at.Msg, "files beside a script, and this cell is in none; os.ReadFile") {
		t.Errorf("at a prompt: %v", at)
	}
}

// TestUnknownPackages checks the errors for packages that cannot be imported.
func TestUnknownPackages(t *testing.T) {
	in := open(t, Options{})
	for path, want := range map[string]string{
		"C":                       "symm.Compile compiles kernels",
		"plugin":                  ":load runs the cells of a file",
		"./other":                 "a folder is imported by the path of its module",
		"github.com/pkg/errors":   "put the parts that you need into a cell",
		"internal/abi":            "it is internal to others",
		"net/http/internal/ascii": "it is internal to others",
	} {
		err := evaluate(in, session.Cell{ID: 1, Source: "import _ \"" + path + "\""}).Err
		if err == nil || !strings.Contains(err.Msg, "package "+path+" is not available in cells: ") || !strings.Contains(err.Msg, want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	for _, path := range []string{"time/tzdata", "runtime/cgo", "embed", "testing/synctest", "unsafe"} {
		if err := evaluate(in, session.Cell{ID: 1, Source: "import _ \"" + path + "\""}).Err; err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestPackageVariables checks that cells share the variables of packages, also those of basic
// types.
func TestPackageVariables(t *testing.T) {
	was := runtime.MemProfileRate
	defer func() { runtime.MemProfileRate = was }()
	in := open(t, Options{})
	mustEval(t, in, "import \"runtime\"\nruntime.MemProfileRate = 7\nfunc f() { runtime.MemProfileRate++; *(&runtime.MemProfileRate) += 2 }\nf()")
	if got := mustEval(t, in, "runtime.MemProfileRate"); got != "10" || runtime.MemProfileRate != 10 {
		t.Errorf("%s, and %d in the process", got, runtime.MemProfileRate)
	}
}

// TestUnsafeRefused checks which unsafe pointers are refused.
func TestUnsafeRefused(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "import \"unsafe\"\ntype I interface{ M() }\ntype T struct { n int; i [2]I }\nvar v T")
	for source, want := range map[string]string{
		"unsafe.Pointer(&v)":                     "an unsafe pointer to T: the interface I, which has methods, has another memory layout than in Go",
		"(*I)(unsafe.Pointer(uintptr(0)))":       "an unsafe pointer to I",
		"unsafe.Pointer(uintptr(17))":            "0x11 is the address of nothing",
		"unsafe.SliceData([]I{})":                "an unsafe pointer to I",
		"unsafe.Slice((*I)(nil), len(\"text\"))": "an unsafe pointer to I",
	} {
		if err := evaluate(in, session.Cell{ID: 2, Source: source}).Err; err == nil || err.Kind != session.KindUnsupported || !strings.Contains(err.Msg, want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
	if got := mustEval(t, in, "unsafe.Sizeof(v)"); got != "0x28" {
		t.Errorf("the size is %s", got)
	}
}
