//go:build linux && (amd64 || arm64)

// Package devicepage makes docs/kernels.md, the page of what kernels can call, and the data of
// package reference, from the comments of the headers.
//
// What a header's comment says of a declaration is its text. Paragraphs of it may begin with a
// label and a colon, which package reference lists: Order is the contract of memory order, Waits
// says what the call waits for, Cost has measured figures, and "On the cpu device" says what is
// different there; a declaration with that label is listed among those that the cpu device
// approximates. Example is followed by code, which a test compiles for both devices. A comment that
// begins with "Internal:" hides a name of the headers' own.
//
// What the cpu device emulates is read from its own headers; what it refuses is asked of its
// compiler, construct by construct (refused.go). So what is added there appears on the page when it
// is made the next time. The package's test fails if the page or the data is out of date.
package devicepage

//go:generate go run ./gen ../../../kernels/reference/reference.json.gz ../../../docs/kernels.md
