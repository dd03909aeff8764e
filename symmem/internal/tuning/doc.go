// Package tuning has the tuning parameters of each kind of device: the numbers of threads and
// blocks of kernels, and the way in which an operation is executed for a message size and a group
// size. They are data, measured per device.
package tuning
