// Package null is a simulated network: files shared by processes of one machine. Its messages can
// be late, slow, reordered or lost, at random with a seed, so that failures between hosts can be
// shown and tested on one machine. null.c describes the files.
package null
