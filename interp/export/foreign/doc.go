// Package foreign writes the kernels and launches of a session as programs that do not use
// symmrepl: as a Python module for PyTorch's symmetric memory, and as a program of C++.
//
// A cell's Go becomes the other language statement by statement. The usual parts of programs with
// kernels can be carried over: numbers, strings and slices of them, loops, functions, printing, and
// the calls of package symm that the other side has. A statement with anything else becomes a
// comment with its Go and the reason, and so does every later statement that uses a variable of
// such a statement. Each call of symm.Compile becomes a source of kernels by the same text.
//
// Both languages share module.go (cells, and refusals), the walk over statements.go and expressions.go,
// sources.go (the calls of symm.Compile), includes.go (the headers of kernels), names.go, comments.go
// and syntax.go (questions about Go's syntax). language.go has the parts in which the languages differ,
// and python*.go and cpp*.go write them.
//
// The folder runtime has the files that accompany the programs: symm_torch.py fills a symm::Handle
// from the result of PyTorch's rendezvous, symm_host.hpp makes symmetric memory itself, symm_host.h
// declares the layouts, and symm_operations.cu has barriers and signals as kernels. docs/abi.md
// describes the layouts, docs/export.md is the page for users.
package foreign
