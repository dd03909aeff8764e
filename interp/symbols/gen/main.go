// Command gen writes the symbol table of symmem, symmem.go in the current directory.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/traefik/yaegi/extract"
)

const importPath = "github.com/symmrepl/symmrepl/symmem"

func main() {
	if err := write("symmem.go"); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(name string) error {
	var buf bytes.Buffer
	e := extract.Extractor{Dest: "symbols"}
	if _, err := e.Extract(importPath, "", &buf); err != nil {
		return err
	}
	return os.WriteFile(name, buf.Bytes(), 0o644)
}
