package yaegi

//lint:file-ignore U1000 package reflect compares the fields

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestMatchSaysWhatDiffers checks that an error names the field that differs from this package's
// types.
func TestMatchSaysWhatDiffers(t *testing.T) {
	type inner struct{ a, b int }
	type ours struct {
		id   uint64
		next *ours
		of   map[string]*inner
		step func(*inner) Step
	}
	type moved struct {
		next *moved
		id   uint64
		of   map[string]*inner
		step func(*inner) Step
	}
	type fewer struct{ id uint64 }
	type deeper struct{ a, b int32 }
	type other struct {
		id   uint64
		next *other
		of   map[string]*deeper
		step func() Step
	}
	for _, test := range []struct {
		theirs reflect.Type
		says   []string
	}{
		{reflect.TypeFor[ours](), nil},
		{reflect.TypeFor[moved](), []string{"moved.id is at 8, not 0", "moved.next is at 0, not 8"}},
		{reflect.TypeFor[fewer](), []string{"fewer is a struct of 8 bytes, not a struct of 32"}},
		{reflect.TypeFor[other](), []string{"other.of is a struct of 8 bytes, not a struct of 16",
			"other.step is a func() yaegi.Step, not a func(*yaegi.inner) yaegi.Step"}},
	} {
		err := match(reflect.TypeFor[ours](), test.theirs)
		if (err == nil) != (test.says == nil) {
			t.Errorf("%s: %v", test.theirs, err)
		}
		for _, text := range test.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q is not in %q", test.theirs, text, err)
			}
		}
	}
}

// TestVersion checks that Version is the version that the module requires.
func TestVersion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if want := modulePath + " " + Version + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("go.mod does not require %q", want)
	}
}
