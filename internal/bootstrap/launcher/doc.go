// Package launcher knows what torchrun, mpirun and srun tell the processes that they start, and where those of
// one job and one host meet: at a Unix socket in a directory of the user's own.
package launcher
