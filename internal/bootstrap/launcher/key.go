package launcher

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"

	"github.com/symmrepl/symmrepl/internal/procfs"
)

// Named reports whether the launcher gives the job its own name or port.
func (l Launcher) Named() bool { return l.Job != "" || l.Port != 0 }

// Key identifies the job among the jobs on this host: by the launcher's name for the job, by its
// port, which no two jobs use at the same time, or, if the launcher gives neither, by the
// launcher's process.
func (l Launcher) Key() string {
	h := fnv.New64a()
	fmt.Fprint(h, l.Name, "/", l.Job, "/", l.Port)
	if !l.Named() {
		parent := os.Getppid()
		stat, _ := procfs.Of(parent) // without /proc the number alone identifies it
		fmt.Fprint(h, "/", parent, "/", stat.Started)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}
