// Package tuning says how each kind of device is best used: how many threads and blocks a kernel gets, and which way an
// operation takes for a message of some size in a group of some ranks. It is data, measured per device.
package tuning
