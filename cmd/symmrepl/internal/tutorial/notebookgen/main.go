// Notebookgen writes the notebooks of the tutorials to the folder it is given.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: notebookgen FOLDER")
	}
	files, err := tutorial.Notebooks()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll(os.Args[1], 0o755); err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
