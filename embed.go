// Package symmrepl holds the files that the program carries. The program itself is cmd/symmrepl.
package symmrepl

import "embed"

// Tutorials holds the numbered tutorials and what is recorded of each: NN-name.go, NN-name.out and NN-name.2.out in the
// folder tutorials, whose README says how they are written.
//
//go:embed tutorials/[0-9][0-9]-*
var Tutorials embed.FS

//go:generate go run ./cmd/symmrepl/internal/tutorial/notebookgen notebooks
