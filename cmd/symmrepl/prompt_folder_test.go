package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// `:cd` changes the folder of all ranks and of shell lines, whatever names cells have defined.
// Replaying a rank and running the saved session repeat the `:cd`.
func TestCd(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	data, err := filepath.EvalSymlinks(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	data += "/data"
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data+"/f.txt", []byte("found"), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	r := h.run(fmt.Sprintf(`import files "os"
panic, os, err, Chdir := 1, 2, 3, 4; panic + os
%%cd %s
text, err := files.ReadFile("f.txt")
fmt.Println(string(text), err)
:save s.go
:restart 1 replay
$ pwd; cat f.txt; echo
fmt.Println(string(text))
:restart
import "os"
folder, err := os.Getwd(); folder
$ pwd
`, data), "-n", "2", "--device", device())
	want := "[0,1] 3\n[0,1] found <nil>\ns.go: 5 cells\n[1] found <nil>\n" + data + "\nfound\n[0,1] found\n" +
		fmt.Sprintf("[0,1] %q\n", here) + here + "\n"
	if r.status != 0 || r.out != want {
		t.Errorf("status %d, shown\n%s\nwant\n%s\n%s", r.status, r.out, want, r.err)
	}
	r = h.run("", "run", "-n", "2", "--device", device(), data+"/s.go")
	if want := (result{0, "[0,1] 3\n[0,1] found <nil>\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	h.expectNothingLeft()
}
