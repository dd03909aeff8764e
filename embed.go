// Package symmrepl embeds the files that the program needs at run time. The program itself is cmd/symmrepl.
package symmrepl

import "embed"

// Tutorials holds the numbered tutorials and their recorded output: NN-name.go, NN-name.out and
// NN-name.2.out in the folder tutorials, whose README describes the format.
//
//go:embed tutorials/[0-9][0-9]-*
var Tutorials embed.FS

// Sources holds this module's packages that compiled programs use, with their tests, for the
// programs that `:export` writes.
//
//go:embed go.mod LICENSE symmem kernels show display chart session/inband internal
var Sources embed.FS

//go:generate go run ./cmd/symmrepl/internal/tutorial/notebookgen notebooks
