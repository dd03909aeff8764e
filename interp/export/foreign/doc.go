// Package foreign writes the kernels and launches of a session as programs that do not use
// symmrepl: as a Python module for PyTorch's symmetric memory, and as a program of C++.
//
// A cell's Go becomes the other language statement by statement. What can be carried over is what
// programs of kernels consist of: numbers, strings and slices of them, loops, functions, printing,
// and the calls of package symm that the other side has. A statement that has anything else becomes
// a comment with its Go and the reason, and so does every later statement that uses a variable of
// it. Each call of symm.Compile becomes a source of kernels by the same text.
//
// Both languages share module.go (cells, and what is not carried over), sources.go (the calls of
// symm.Compile), includes.go (the headers of kernels), names.go, comments.go and syntax.go
// (questions about Go's syntax). python*.go and cpp*.go write the languages.
//
// The folder runtime has what goes with the programs: symm_torch.py fills a symm::Handle from what
// PyTorch's rendezvous returns, symm_host.hpp makes symmetric memory itself, symm_host.h declares
// the layouts, and symm_operations.cu has barriers and signals as kernels. docs/abi.md describes
// the layouts, docs/export.md what users see.
package foreign
