// Gen writes the C++ files of package builtin that hold the operations of package kernels.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/kernels"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gen DIR")
	}
	for name, text := range files() {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// parts is the number of files that hold the operations. The Go tool compiles them side by side.
const parts = 4

// files returns the texts by file name: headers.h includes all headers, outside of the operations'
// namespaces, and the operations are dealt out to the parts in turns.
func files() map[string]string {
	const written = " Written by go generate.\n"
	headers := "// All headers of package kernels." + written
	for _, h := range kernels.BuiltinHeaders() {
		if h.Name == "symm/abi.cuh" || strings.HasPrefix(h.Name, "nvshmem") && h.Name != "nvshmem/table.h" {
			continue // it defines a variable, or includes a header that does, for modules of users
		}
		headers += fmt.Sprintf("#include %q\n", h.Name)
	}
	texts := map[string]string{"headers.h": headers}
	var part [parts]strings.Builder
	for i := range part {
		part[i].WriteString("// Operations, each in a namespace of its own." + written +
			"#include \"contract.h\"\n#include \"cuda_on_cpu.h\"\n#include \"layout.h\"\n\n#include \"headers.h\"\n\n")
	}
	for i, f := range kernels.Files() {
		fmt.Fprintf(&part[i%parts], "namespace operation_%s {\n#include %q\n}\n", f.Operation(), f.Name)
	}
	for i := range part {
		texts[fmt.Sprintf("operations_%d.cpp", i+1)] = part[i].String()
	}
	return texts
}
