// Package tensorfile reads and writes files of tensors: .safetensors, .npy and .npz, and plain bytes.
//
// [Open] maps a file and checks its whole header before anything is allocated for a tensor. A
// [Tensor] says where its elements are; a [Part] of it is read by any number of goroutines. [Create]
// lays out a file; its tensors are then written in any order and by several processes. The file gets
// its name when it is complete. It has the same bytes as a file of the Python libraries.
//
// Files are not trusted: sizes, offsets and nesting are compared with the length of the file before
// they are used. The package does not depend on a device.
package tensorfile
