// Docgen writes the page of commands to the file it is given.
package main

import (
	"log"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: docgen FILE")
	}
	if err := os.WriteFile(os.Args[1], []byte(command.Page()), 0o644); err != nil {
		log.Fatal(err)
	}
}
