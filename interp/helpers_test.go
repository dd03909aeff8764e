package interp

import (
	"os"
	"reflect"
	"testing"
)

// testPackage is a package with a function that blocks.
func testPackage(wait func()) Exports {
	return Exports{"test/blocking/blocking": {"Wait": reflect.ValueOf(wait)}}
}

// open makes a session that is closed, and what it left running ended, when the test is over.
func open(t testing.TB, options Options) *Interp {
	t.Helper()
	in, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

// written returns a function that says what was written to standard error since, as long as the test runs.
func written(t *testing.T) func() string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = f
	t.Cleanup(func() {
		os.Stderr = was
		f.Close()
	})
	return func() string {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}
