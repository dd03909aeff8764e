package docs_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/interp/docs"
)

func TestLookup(t *testing.T) {
	for _, test := range []struct{ path, name, decl string }{
		{"strings", "", "package strings"},
		{"strings", "Cut", "func Cut(s, sep string) (before, after string, found bool)"},
		{"strings", "Builder.Len", "func (b *Builder) Len() int"},
		{"slices", "Sort", "func Sort[S ~[]E, E cmp.Ordered](x S)"},
		{"sync/atomic", "Pointer.Load", "func (x *Pointer[T]) Load() *T"},
		{"sort", "Interface.Len", "Len() int"},
		{"math", "Pi", "const (\n    E   = "},
		{"time", "Second", "const (\n    Nanosecond "},
		{"syscall", "SYS_READ", "const SYS_READ = 0"},
		{"net/http", "Server.Handler", "Handler Handler"},
		{"iter", "Seq", "type Seq[V any] func(yield func(V) bool)"},
		{"github.com/symmrepl/symmrepl/symmem", "Rank", "func Rank() int"},
	} {
		decl, text, ok := docs.Lookup(test.path, test.name)
		if !ok || len(decl) < len(test.decl) || decl[:len(test.decl)] != test.decl {
			t.Errorf("%s.%s is declared %q, %v, not %q", test.path, test.name, decl, ok, test.decl)
		}
		if text == "" && test.name != "SYS_READ" && test.name != "Pi" {
			t.Errorf("%s.%s has no text", test.path, test.name)
		}
	}
	for _, test := range [][2]string{{"strings", "cut"}, {"string", "Cut"}, {"strings", "Builder.len"}, {"", ""}} {
		if decl, _, ok := docs.Lookup(test[0], test[1]); ok {
			t.Errorf("%s.%s is declared %q", test[0], test[1], decl)
		}
	}
	if want := []string{"Handle", "Handle.Value", "Make"}; !slices.Equal(docs.Names("unique"), want) {
		t.Errorf("unique has %q, not %q", docs.Names("unique"), want)
	}
	if docs.Names("nowhere") != nil {
		t.Error("an unknown package has names")
	}
}

// TestWhole opens every package, and checks that even the largest opens fast.
func TestWhole(t *testing.T) {
	processorTime := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	var slowest time.Duration
	for _, p := range docs.Packages() {
		start := processorTime()
		if _, _, ok := docs.Lookup(p, ""); !ok {
			t.Errorf("%s cannot be looked up", p)
		}
		slowest = max(slowest, processorTime()-start)
		for _, name := range docs.Names(p) {
			if decl, _, ok := docs.Lookup(p, name); !ok || decl == "" {
				t.Errorf("%s.%s has no declaration", p, name)
			}
		}
	}
	t.Logf("the slowest package took %v of processor time", slowest)
	if slowest > time.Second {
		t.Errorf("a package took %v of processor time to open", slowest)
	}
}

// TestFresh checks that symmem's documentation is that of its sources.
func TestFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	const symmem = "github.com/symmrepl/symmrepl/symmem"
	want, err := exec.Command("go", "run", "./gen", symmem).Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile("docs.zip")
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Open(symmem)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs.zip does not have symmem's present documentation; run go generate in interp/docs")
	}
}
