// Package contract is the agreement between package lower, which writes the code of cells, and
// package run, which runs it: the names of the helpers that lowered code calls (helpers.go), the
// names that lowered code and the runtime share (names.go, rangefunc.go), and what the runtime has
// to know about types and statements of a cell (types.go, points.go). Package lower uses nothing
// else of a runtime.
package contract
