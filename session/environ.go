package session

import "github.com/symmrepl/symmrepl/internal/bootstrap/launcher"

// Launcher is what torchrun, mpirun or srun has told this process about its place in the world.
type Launcher = launcher.Launcher

// FromEnviron reads what a launcher has put into environ: see [launcher.FromEnviron].
func FromEnviron(environ []string) (l Launcher, ok bool, err error) {
	return launcher.FromEnviron(environ)
}
