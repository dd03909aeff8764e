// Gen writes the page of the operations of the package in a folder, with the examples of a file of
// cells, to a file.
package main

import (
	"log"
	"os"

	"github.com/symmrepl/symmrepl/symmem/internal/opspage"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: gen FOLDER EXAMPLES FILE")
	}
	page, missing, err := opspage.Page(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range missing {
		log.Print(m)
	}
	if len(missing) > 0 {
		os.Exit(1)
	}
	if err := os.WriteFile(os.Args[3], []byte(page), 0o644); err != nil {
		log.Fatal(err)
	}
}
