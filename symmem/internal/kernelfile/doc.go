// Package kernelfile reads files of compiled kernels: cubins, PTX, fatbins, and the JSON that Triton
// writes beside a cubin.
//
// [Open] recognises a file by its first bytes and checks its structure: a driver is given an address
// without a length and would read past the end of a truncated file. [File.For] picks the code that a
// GPU runs, an [Image], which knows its kernels and the layout of their parameters, so that a launch
// is compared with the file before a driver sees it. Of code that is packed in a fatbin only the
// driver knows the kernels.
//
// A file may come from anybody: sizes and offsets are compared with the length of the file before
// they are used. What the code does when it runs is not checked. The package knows no device.
package kernelfile
