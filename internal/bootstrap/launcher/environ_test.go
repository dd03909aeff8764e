package launcher

import (
	"strings"
	"testing"
)

func TestFromEnviron(t *testing.T) {
	torchrun := "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=head MASTER_PORT=29500 "
	for _, c := range []struct {
		environ string
		want    Launcher
	}{
		{torchrun, Launcher{"torchrun", 3, 4, 1, 2, "head", 29500, "", false, false}},
		{torchrun + "TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RUN_ID=job TORCHELASTIC_RESTART_COUNT=2",
			Launcher{"torchrun", 3, 4, 1, 2, "head", 29500, "job/2", true, true}},
		{torchrun + "TORCHELASTIC_USE_AGENT_STORE=False TORCHELASTIC_RUN_ID=none",
			Launcher{"torchrun", 3, 4, 1, 2, "head", 29500, "", false, true}},
		{torchrun + "TORCHELASTIC_RUN_ID=none TORCHELASTIC_RESTART_COUNT=1", Launcher{"torchrun", 3, 4, 1, 2, "head", 29500, "/1", false, true}},
		{"RANK=0 WORLD_SIZE=1 LOCAL_RANK=0", Launcher{Name: "torchrun", Size: 1}},
		{torchrun + "OMPI_COMM_WORLD_RANK=7 OMPI_COMM_WORLD_SIZE=8", Launcher{"torchrun", 3, 4, 1, 2, "head", 29500, "", false, false}},
		{"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=prterun-1", Launcher{"mpirun", 1, 2, 1, 2, "", 0, "prterun-1", false, true}},
		{"SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=8 SLURM_STEP_NUM_NODES=2 SLURM_LOCALID=1 SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=gpu[03-04]", Launcher{"srun", 5, 8, 1, 0, "gpu03", 26663, "17.0", false, true}},
		{"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=1 SLURM_LOCALID=1 SLURM_STEP_NODELIST=a MASTER_ADDR=b MASTER_PORT=5", Launcher{"srun", 1, 2, 1, 2, "b", 5, ".", false, true}},
	} {
		got, ok, err := FromEnviron(strings.Fields(c.environ))
		if !ok || err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, %v", c.environ, got, ok, err)
		}
	}
	for _, environ := range []string{"", "HOME=/root PATH=/bin", "SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=3",
		"SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", "MASTER_ADDR=x"} {
		if got, ok, err := FromEnviron(strings.Fields(environ)); ok || err != nil {
			t.Errorf("%s: %+v, %v", environ, got, err)
		}
	}
	left := ": a launcher sets all of them; unset what is left over, or set the rest"
	byHand := left + "; ranks that are started by hand on one host need RANK, WORLD_SIZE and MASTER_PORT"
	for environ, want := range map[string]string{
		"WORLD_SIZE=4":                                        "WORLD_SIZE=4 set without RANK and LOCAL_RANK" + byHand,
		"RANK=1":                                              "RANK=1 set without WORLD_SIZE and LOCAL_RANK" + byHand,
		"RANK=1 WORLD_SIZE=2":                                 "RANK=1 and WORLD_SIZE=2 set without LOCAL_RANK" + byHand,
		"LOCAL_RANK=0":                                        "LOCAL_RANK=0 set without RANK and WORLD_SIZE" + left,
		"OMPI_COMM_WORLD_SIZE=2":                              "OMPI_COMM_WORLD_SIZE=2 set without OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_LOCAL_RANK" + left,
		"RANK=x WORLD_SIZE=2 LOCAL_RANK=0":                    "RANK=x is not a number",
		"RANK=-1 WORLD_SIZE=2 LOCAL_RANK=0":                   "RANK=-1 is not a number",
		"RANK=2 WORLD_SIZE=2 LOCAL_RANK=0":                    "RANK and WORLD_SIZE say that this is rank 2 of 2; ranks count from 0",
		"RANK=0 WORLD_SIZE=0 LOCAL_RANK=0":                    "RANK and WORLD_SIZE say that the world has 0 ranks",
		"RANK=0 WORLD_SIZE=2 LOCAL_RANK=3 LOCAL_WORLD_SIZE=2": "torchrun says that this is process 3 of 2 on this host, in a world of 2",
		"RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_PORT=70000":  "MASTER_PORT=70000 is not a port",
	} {
		if got, ok, err := FromEnviron(strings.Fields(environ)); ok || err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v", environ, got, err)
		}
	}
}

// Ranks of one job find the same place, also behind wrappers; ranks of other jobs do not.
func TestJobKey(t *testing.T) {
	job := Launcher{Name: "torchrun", Port: 29500, Rank: 0}
	other := job
	other.Rank = 3
	if job.Key() != other.Key() {
		t.Error("ranks of one job have different keys")
	}
	seen := map[string]Launcher{}
	for _, l := range []Launcher{job, {Name: "torchrun", Port: 29501}, {Name: "torchrun", Port: 29500, Job: "/1"},
		{Name: "mpirun", Port: 29500}, {Name: "mpirun"}} {
		key := l.Key()
		if was, ok := seen[key]; ok {
			t.Errorf("%+v and %+v have the same key", l, was)
		}
		seen[key] = l
	}
}

func TestFirstNode(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "a": "a", "a,b": "a", "gpu[03-05,9],login1": "gpu03", "gpu[7,9]": "gpu7", "login1,gpu[03-05]": "login1",
		"rack1-n[2-3].lan,x": "rack1-n2.lan",
	} {
		if got := firstNode(list); got != want {
			t.Errorf("%s: %s, not %s", list, got, want)
		}
	}
}

func FuzzFirstNode(f *testing.F) {
	f.Add("gpu[03-05,9],login1")
	f.Fuzz(func(t *testing.T, list string) {
		if strings.Contains(firstNode(list), ",") {
			t.Fatal(firstNode(list))
		}
	})
}
