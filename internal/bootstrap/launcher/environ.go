package launcher

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Launcher describes the place in the world that torchrun, mpirun or srun has given to a process.
type Launcher struct {
	Name      string // "torchrun", also for other programs that set the same variables; "mpirun"; "srun"
	Rank      int
	Size      int
	LocalRank int    // among the processes of this host
	LocalSize int    // processes on this host; 0 if the launcher does not say
	Address   string // MASTER_ADDR, a host
	Port      int    // MASTER_PORT
	Job       string // identifies the job on its host; may be empty
	Store     bool   // the launcher itself listens at Address and Port, with a key-value store
	Stays     bool   // this process's parent belongs to the launcher and lives until the job is over
}

// OneHost reports whether all ranks are known to run on this host.
func (l Launcher) OneHost() bool { return l.LocalSize == l.Size }

// FromEnviron reads a launcher's variables from environ, which is in os.Environ's form. ok is false
// if there are none. It is an error if required variables are missing or contradict each other.
func FromEnviron(environ []string) (l Launcher, ok bool, err error) {
	e := parse(environ)
	switch {
	case e.any("RANK", "WORLD_SIZE", "LOCAL_RANK"):
		l, err = e.torchrun()
	case e.any("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"):
		l, err = e.mpirun()
	case e.any("SLURM_STEP_NUM_TASKS") && e["SLURM_STEP_NUM_TASKS"] != "1":
		l, err = e.srun()
	default:
		return Launcher{}, false, nil
	}
	if err == nil {
		err = l.check()
	}
	return l, err == nil, err
}

// environment holds the variables that are set and not empty.
type environment map[string]string

// parse reads variables in os.Environ's form.
func parse(environ []string) environment {
	e := environment{}
	for _, v := range environ {
		if name, value, found := strings.Cut(v, "="); found && value != "" {
			e[name] = value
		}
	}
	return e
}

func (e environment) any(names ...string) bool {
	for _, n := range names {
		if e[n] != "" {
			return true
		}
	}
	return false
}

// need returns an error if one of names is missing.
func (e environment) need(names ...string) error {
	var set, missing []string
	for _, n := range names {
		if e[n] == "" {
			missing = append(missing, n)
		} else {
			set = append(set, n+"="+e[n])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s set without %s: a launcher sets all of them; unset what is left over, or set the rest",
		strings.Join(set, " and "), strings.Join(missing, " and "))
}

// read parses the number in a variable into n. If the variable is not set, n does not change.
func (e environment) read(name string, n *int) error {
	if e[name] == "" {
		return nil
	}
	v, err := strconv.Atoi(e[name])
	if err != nil || v < 0 {
		return fmt.Errorf("%s=%s is not a number", name, e[name])
	}
	*n = v
	return nil
}

type numberVariable struct {
	name string
	n    *int
}

func (e environment) readAll(list []numberVariable) error {
	for _, v := range list {
		if err := e.read(v.name, v.n); err != nil {
			return err
		}
	}
	return nil
}

func (e environment) torchrun() (Launcher, error) {
	l := Launcher{Name: "torchrun", Address: e["MASTER_ADDR"], Store: e["TORCHELASTIC_USE_AGENT_STORE"] == "True",
		Stays: e["TORCHELASTIC_RUN_ID"] != ""}
	if err := e.need("RANK", "WORLD_SIZE", "LOCAL_RANK"); err != nil {
		if e["LOCAL_RANK"] == "" {
			err = fmt.Errorf("%w; ranks that are started by hand on one host need RANK, WORLD_SIZE and MASTER_PORT", err)
		}
		return l, err
	}
	if id := e["TORCHELASTIC_RUN_ID"]; id != "none" { // "none" is the default and identifies no job
		l.Job = id
	}
	if count := e["TORCHELASTIC_RESTART_COUNT"]; count != "" {
		l.Job += "/" + count
	}
	return l, e.readAll([]numberVariable{{"RANK", &l.Rank}, {"WORLD_SIZE", &l.Size}, {"LOCAL_RANK", &l.LocalRank},
		{"LOCAL_WORLD_SIZE", &l.LocalSize}, {"MASTER_PORT", &l.Port}})
}

func (e environment) mpirun() (Launcher, error) {
	l := Launcher{Name: "mpirun", Address: e["MASTER_ADDR"], Job: e["PMIX_NAMESPACE"], Stays: true}
	if err := e.need("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"); err != nil {
		return l, err
	}
	return l, e.readAll([]numberVariable{{"OMPI_COMM_WORLD_RANK", &l.Rank}, {"OMPI_COMM_WORLD_SIZE", &l.Size},
		{"OMPI_COMM_WORLD_LOCAL_RANK", &l.LocalRank}, {"OMPI_COMM_WORLD_LOCAL_SIZE", &l.LocalSize}, {"MASTER_PORT", &l.Port}})
}

func (e environment) srun() (Launcher, error) {
	l := Launcher{Name: "srun", Address: e["MASTER_ADDR"], Job: e["SLURM_JOB_ID"] + "." + e["SLURM_STEP_ID"], Stays: true}
	if err := e.need("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"); err != nil {
		return l, err
	}
	nodes := 0
	err := e.readAll([]numberVariable{{"SLURM_PROCID", &l.Rank}, {"SLURM_STEP_NUM_TASKS", &l.Size}, {"SLURM_LOCALID", &l.LocalRank},
		{"SLURM_STEP_NUM_NODES", &nodes}, {"MASTER_PORT", &l.Port}})
	if nodes == 1 {
		l.LocalSize = l.Size
	}
	if l.Address == "" {
		l.Address = firstNode(e["SLURM_STEP_NODELIST"])
	}
	if l.Port == 0 { // the same in all ranks, and rarely the same as in another job
		h := fnv.New32a()
		h.Write([]byte(l.Job))
		l.Port = 20000 + int(h.Sum32()%10000)
	}
	return l, err
}

// firstNode returns the first host of a list such as "gpu[03-05,9],login1".
func firstNode(list string) string {
	prefix, rest, bracket := strings.Cut(list, "[")
	if !bracket || strings.Contains(prefix, ",") {
		first, _, _ := strings.Cut(list, ",")
		return first
	}
	inside, suffix, _ := strings.Cut(rest, "]")
	number, _, _ := strings.Cut(inside, ",")
	number, _, _ = strings.Cut(number, "-")
	suffix, _, _ = strings.Cut(suffix, ",")
	return prefix + number + suffix
}

// check returns an error if numbers contradict each other.
func (l Launcher) check() error {
	says := l.Name + " says"
	if l.Name == "torchrun" { // or a user who has set the same variables
		says = "RANK and WORLD_SIZE say"
	}
	switch {
	case l.Size < 1:
		return fmt.Errorf("%s that the world has %d ranks", says, l.Size)
	case l.Rank >= l.Size:
		return fmt.Errorf("%s that this is rank %d of %d; ranks count from 0", says, l.Rank, l.Size)
	case l.LocalSize > l.Size || (l.LocalSize > 0 && l.LocalRank >= l.LocalSize):
		return fmt.Errorf("%s says that this is process %d of %d on this host, in a world of %d", l.Name, l.LocalRank, l.LocalSize, l.Size)
	case l.Port > 65535:
		return fmt.Errorf("MASTER_PORT=%d is not a port", l.Port)
	}
	return nil
}
