// Gen writes operations.h of package builtin: an include of every operation of package kernels.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/symmrepl/symmrepl/kernels"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gen FILE")
	}
	if err := os.WriteFile(os.Args[1], []byte(operations()), 0o644); err != nil {
		log.Fatal(err)
	}
}

// operations includes the headers first, outside the operations' namespaces.
func operations() string {
	var b strings.Builder
	b.WriteString("// operations.h: every operation, in a namespace of its own. Written by go generate.\n")
	for _, h := range kernels.BuiltinHeaders() {
		fmt.Fprintf(&b, "#include %q\n", h.Name)
	}
	for _, f := range kernels.Files() {
		fmt.Fprintf(&b, "namespace operation_%s {\n#include %q\n}\n", f.Operation(), f.Name)
	}
	return b.String()
}
