// Package tensorfile reads and writes files of tensors: .safetensors, .npy and .npz, and plain bytes.
//
// [Open] maps a file and checks its whole header before anything is allocated for a tensor. A
// [Tensor] says where its elements are; a [Part] of it is read by any number of goroutines. [Create]
// lays out a file, whose tensors are written in any order and by several processes; the file takes
// its name when it is complete. The bytes are those that the Python libraries write.
//
// A file may come from anybody: sizes, offsets and nesting are compared with the length of the file
// before they are used. The package knows no device.
package tensorfile
