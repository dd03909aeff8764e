// Package foreign writes the kernels and launches of a session as a Python module for PyTorch's symmetric memory: NAME.py, which has
// the cells, symm_torch.py, which fills a symm::Handle from what PyTorch's rendezvous returns and launches the kernels, and the
// folder symm_include with the headers that they include.
//
// A cell's Go becomes Python statement by statement. What can be carried over is what programs of kernels consist of: numbers,
// strings and slices of them, loops, functions, printing, and the calls of package symm that PyTorch has. A statement that has
// anything else becomes a comment with its Go and the reason, and so does every later statement that uses a variable of it. Each
// call of symm.Compile becomes a symm.Source of the module, so that another program can import its kernels.
//
// The files of the package, from the top: module.go (the text of NAME.py), sources.go (the calls of symm.Compile), includes.go
// (their headers), statements.go, expressions.go, calls.go and library.go (Go in Python), names.go.
package foreign
