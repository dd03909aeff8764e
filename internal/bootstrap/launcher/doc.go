// Package launcher reads from the environment the settings that torchrun, mpirun or srun gives to
// each process: its rank, the number of ranks, and the address of rank 0. If a user starts the
// processes by hand, it derives them from RANK and WORLD_SIZE, as far as possible.
package launcher
