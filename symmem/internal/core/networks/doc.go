// Package networks is a rank's end of the network between hosts: the choice of an engine (Choice),
// the secret that ranks share before one of them listens (Gate), the open engine with the memory
// that it shares with kernels (Network), the part of it that a group has (Wiring), and its description
// for people.
//
// The package knows ranks by their numbers in the world, and groups by seam.Members. Core decides which
// ranks meet, when they connect, and which operations are posted. A Network has no lock: core's
// Runtime.mu guards the fields that say so.
package networks
