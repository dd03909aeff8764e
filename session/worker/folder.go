package worker

import (
	"os"

	"github.com/symmrepl/symmrepl/session"
)

// changeFolder carries out Cell.Folder in the worker.
func changeFolder(c session.Cell) *session.Error {
	if c.Folder == "" {
		return nil
	}
	if err := os.Chdir(c.Folder); err != nil {
		return &session.Error{
			Kind: session.KindSystem, Op: "chdir", Peer: -1, File: c.Name, Line: c.Line, Msg: err.Error(),
			Hint: "make the folder on the host of each rank, or name another one",
		}
	}
	return nil
}
