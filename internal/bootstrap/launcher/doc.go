// Package launcher reads from the environment what torchrun, mpirun or srun tells each process that it starts: its rank, how many ranks
// there are, and where rank 0 is; or, if a user starts the processes by hand, what of this follows from RANK and WORLD_SIZE.
package launcher
