// Package delays decides which calls of a rank begin late, and by how much.
//
// A program that lacks a wait usually gives the right result, because ranks that begin together stay
// together. Once a rank is late, it does not. [Parse] reads which ranks and which calls are to be
// late; [Delayer.Next] says before each call how late it is. The package knows no device: core puts
// a kernel in the call's stream that lets the time pass, so that the delay holds where the host runs
// ahead of the device.
package delays
