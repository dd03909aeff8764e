// Package null is a network that is not one: files that the processes of one machine share. Its messages can be late, slow, out of
// order or lost, as chance with a seed decides, so that what goes wrong between hosts can be shown and tested on one. null.c
// says how the files work.
package null
