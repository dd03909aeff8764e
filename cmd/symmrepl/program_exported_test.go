package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var exported = flag.Bool("exported", false, "build and run the folder of TestExportedFolder, which takes a minute")

// A folder that is exported has all that the go command needs to build it, without a network and with nothing in its caches of modules; the
// program prints what the session printed.
func TestExportedFolder(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build programs with")
	}
	h := newHome(t, 2)
	dir := filepath.Join(h.dir, "session")
	r := h.run("t := symm.Empty(symm.F32, 4); t.Fill(symm.Rank() + 1); h := symm.Rendezvous(t)\n"+
		"symm.OneShotAllReduce(t, \"sum\").Float32s()\n"+
		"import \"gonum.org/v1/gonum/mat\"\nimport \"gonum.org/v1/plot\"\nmat.Sum(mat.NewDense(1, 2, []float64{40, 2})), plot.New() != nil\n"+
		":export "+dir+"\n", "-n", "2", "--device", "cpu")
	if r.status != 0 || !strings.HasSuffix(r.out, dir+": 5 cells\n") {
		t.Fatalf("%+v", r)
	}
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=vendor", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOMODCACHE="+filepath.Join(h.dir, "modules"))
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, text)
		}
		return string(text)
	}
	packages := command("list", "-deps", ".")
	for _, want := range []string{"github.com/symmrepl/symmrepl/symmem\n", "github.com/NVIDIA/go-nvml/pkg/nvml\n", "gonum.org/v1/plot\n"} {
		if !strings.Contains(packages, want) {
			t.Errorf("the program does not use %s", want)
		}
	}
	if !*exported {
		return // make exported builds it
	}
	command("build", "-trimpath", "-o", "program", ".")
	h.env = append(byHand(1, 2, freePort(t)), "SYMMREPL_DEVICE=cpu")
	other := exec.Command(filepath.Join(dir, "program"))
	other.Env = h.command().Env
	var said strings.Builder
	other.Stdout = &said
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	first := exec.Command(filepath.Join(dir, "program"))
	first.Env = append(other.Env, "RANK=0")
	text, err := first.CombinedOutput()
	if failed := other.Wait(); err != nil || failed != nil {
		t.Fatalf("%v, %v\n%s", err, failed, text)
	}
	const want = "[]float32{3, 3, 3, 3}\n42, true\n"
	if string(text) != want || said.String() != want {
		t.Errorf("the ranks printed %q and %q, want %q", text, said.String(), want)
	}
}
