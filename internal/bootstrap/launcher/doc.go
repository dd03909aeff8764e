// Package launcher reads from the environment what torchrun, mpirun or srun tells each process that it starts: its rank, how many ranks
// there are, and where rank 0 is.
package launcher
