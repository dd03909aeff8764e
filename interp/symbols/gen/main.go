// Command gen writes the symbol table of symmem: to symmem.go in the current directory or, given the argument -, to standard output.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/traefik/yaegi/extract"
)

const importPath = "github.com/symmrepl/symmrepl/symmem"

func main() {
	var buf bytes.Buffer
	e := extract.Extractor{Dest: "symbols"}
	if _, err := e.Extract(importPath, "", &buf); err != nil {
		fail(err)
	}
	if len(os.Args) > 1 && os.Args[1] == "-" {
		os.Stdout.Write(buf.Bytes())
		return
	}
	if err := os.WriteFile("symmem.go", buf.Bytes(), 0o644); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "gen:", err)
	os.Exit(1)
}
