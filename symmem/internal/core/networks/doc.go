// Package networks is a rank's end of what carries operations between hosts: which engine was chosen (Choice), what ranks agree on before one of them listens
// (Gate), the open engine with the memory that it shares with kernels (Network), and its words for people.
//
// The package knows ranks by their numbers in the world and no group. Which ranks meet, when they connect, and what is posted are core's. A Network has no
// lock: core's Runtime.mu guards the fields that say so.
package networks
