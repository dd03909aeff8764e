// Gen writes the page of the operations of the package in a folder to a file.
package main

import (
	"log"
	"os"

	"github.com/symmrepl/symmrepl/symmem/internal/opspage"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: gen FOLDER FILE")
	}
	page, missing, err := opspage.Page(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range missing {
		log.Print(m)
	}
	if len(missing) > 0 {
		os.Exit(1)
	}
	if err := os.WriteFile(os.Args[2], []byte(page), 0o644); err != nil {
		log.Fatal(err)
	}
}
