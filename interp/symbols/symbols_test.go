package symbols

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// TestFresh holds that the table is that of symmem as it is.
func TestFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	cmd := exec.Command("go", "run", "./gen", "-")
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("symmem.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("symmem.go is not the table of symmem's present API; run go generate in interp/symbols")
	}
}
