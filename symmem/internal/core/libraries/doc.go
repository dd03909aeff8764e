// Package libraries has the protocol by which the ranks of a group join a library together, NCCL or
// NVSHMEM. Each member opens its library ([Open]). The members meet and compare what they have
// ([Kind.Meet]), so that none waits in the library for one that cannot come. Then all join within
// [Limit], and meet once more: if one could not join, all give up.
package libraries
