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

// An exported folder has every file that the go command needs to build it, without a network and
// with an empty module cache. The program prints the output of the session.
func TestExportedFolder(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command to build programs")
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
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=vendor", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local",
			"GOMODCACHE="+filepath.Join(h.dir, "modules"))
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, text)
		}
		return string(text)
	}
	packages := command("list", "-deps", ".")
	for _, want := range []string{"github.com/symmrepl/symmrepl/symmem\n", "github.com/NVIDIA/go-nvml/pkg/nvml\n", "gonum.org/v1/plot\n"} {
		if !strings.Contains(packages, want) {
			t.Errorf("the exported program does not use %s", want)
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

// A session is exported to a C++ program and to a Python module. A file of cells is exported to
// both without a session. With -exported, g++ alone builds the program for the emulated device, and
// two processes of it print the output of the session.
func TestExportedCpp(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	dir := filepath.Join(h.dir, "session")
	cells := "rank, size := symm.Rank(), symm.WorldSize(); x := symm.Empty(symm.F32, 64).Fill(rank + 1); h := symm.Rendezvous(x)\n" +
		"k := symm.Compile(`__global__ void sum(symm::Handle h, float* out) { if (!symm::barrier(h, 0)) return; float s = 0;" +
		" for (int p = 0; p < h.world_size; p++) s += h.buffer<float>(p)[threadIdx.x]; out[threadIdx.x] = s; symm::barrier(h, 0); }`)\n" +
		"out := symm.Local(symm.F32, 64); k.Launch(symm.Grid(1), symm.Block(64), h, out); fmt.Println(size, out.Float32s()[63])\n"
	r := h.run(cells+":export "+dir+" --cpp\n:export "+dir+".py\n", "-n", "2", "--device", "cpu")
	if want := "[0,1] 2 3\n" + dir + ": 3 cells\n" + dir + ".py: 3 cells\n"; r.status != 0 || !strings.HasSuffix(r.out, want) {
		t.Fatalf("%+v", r)
	}
	for _, name := range []string{"session/main.cpp", "session/cell2.cu", "session/cell2_cpu.cpp", "session/symm_include/symm/abi.cuh",
		"session.py", "symm_torch.py", "symm_include/symm.cuh"} {
		if _, err := os.Stat(filepath.Join(h.dir, name)); err != nil {
			t.Error(err)
		}
	}
	file := filepath.Join(h.dir, "cells.go")
	if err := os.WriteFile(file, []byte("// %%\n"+strings.ReplaceAll(cells, "\n", "\n// %%\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "export", file, "-o", filepath.Join(h.dir, "again.py")); r.status != 0 ||
		r.out != filepath.Join(h.dir, "again.py")+": 3 cells\n" {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"export", file}, {"export", "-o", "k.py"}, {"export", "nosuch.go", "-o", "k.py"}} {
		if r := h.run("", args...); r.status != 2 || !strings.HasPrefix(r.err, "symmrepl: export") {
			t.Errorf("%q: %+v", args, r)
		}
	}
	if r := h.run("", "export", file, "--cpp", "-o", "k.py"); r.status != 1 ||
		r.err != "symmrepl: --cpp writes a folder, and k.py is the name of a file\n" {
		t.Errorf("%+v", r)
	}
	one, _ := os.ReadFile(filepath.Join(h.dir, "session.py"))
	two, _ := os.ReadFile(filepath.Join(h.dir, "again.py"))
	if want := strings.ReplaceAll(strings.ReplaceAll(string(one), "session", "again"), "nproc-per-node 2",
		"nproc-per-node 4"); strings.ReplaceAll(string(two), "session", "again") != want {
		t.Errorf("the export of the file is\n%s", two)
	}
	if !*exported {
		return // make exported builds it
	}
	build := exec.Command("make", "emulated")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	port := freePort(t)
	var said [2]strings.Builder
	var ranks [2]*exec.Cmd
	for rank := range ranks {
		c := exec.Command("./session", "--test")
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(append(os.Environ(), byHand(rank, 2, port)...), "SYMM_DEVICE=cpu"), &said[rank],
			&said[rank]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ranks[rank] = c
	}
	for rank, c := range ranks {
		err := c.Wait()
		want := []string{"[0] 2 3\n2 ranks: all 2 checks of each rank are right\n", "[1] 2 3\n"}[rank]
		if err != nil || said[rank].String() != want {
			t.Errorf("rank %d: %v, %q, want %q", rank, err, said[rank].String(), want)
		}
	}
}
