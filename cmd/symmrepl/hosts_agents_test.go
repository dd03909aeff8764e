package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous/storetest"
	"github.com/symmrepl/symmrepl/internal/needs"
)

// launch is a job of four ranks on two hosts. Each rank receives its description in a launcher's
// variables.
type launch struct {
	name string
	of   func(rank int) []string // the variables of a rank
}

// launches lists the same job under each launcher.
func launches(t *testing.T) []launch {
	address, store := storetest.Start(t) // stands in for torchrun's agent, which itself listens at MASTER_PORT
	port, job := freePort(t), 1+rand.IntN(1<<30)
	return []launch{
		{"torchrun", func(r int) []string {
			return []string{
				"WORLD_SIZE=4", fmt.Sprint("RANK=", r), "LOCAL_WORLD_SIZE=2", fmt.Sprint("LOCAL_RANK=", r%2),
				fmt.Sprint("GROUP_RANK=", r/2), "GROUP_WORLD_SIZE=2",
				"MASTER_ADDR=" + address, fmt.Sprint("MASTER_PORT=", store), "TORCHELASTIC_USE_AGENT_STORE=True", "TORCHELASTIC_RUN_ID=two",
				"TORCHELASTIC_RESTART_COUNT=0",
			}
		}},
		{"mpirun", func(r int) []string {
			return []string{
				"OMPI_COMM_WORLD_SIZE=4", fmt.Sprint("OMPI_COMM_WORLD_RANK=", r), "OMPI_COMM_WORLD_LOCAL_SIZE=2",
				fmt.Sprint("OMPI_COMM_WORLD_LOCAL_RANK=", r%2),
				fmt.Sprint("PMIX_NAMESPACE=prterun-", job), "MASTER_ADDR=127.0.0.1", fmt.Sprint("MASTER_PORT=", port),
			}
		}},
		{"by hand over IPv6", func(r int) []string {
			return []string{
				"WORLD_SIZE=4", fmt.Sprint("RANK=", r), "LOCAL_WORLD_SIZE=2", fmt.Sprint("LOCAL_RANK=", r%2), "MASTER_ADDR=::1",
				fmt.Sprint("MASTER_PORT=", port),
			}
		}},
		{"srun", func(r int) []string { // srun names the nodes; the port follows from the job
			return []string{
				"SLURM_NTASKS=4", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_NODES=2", fmt.Sprint("SLURM_PROCID=", r),
				fmt.Sprint("SLURM_LOCALID=", r%2),
				fmt.Sprint("SLURM_JOB_ID=", job), "SLURM_STEP_ID=0", "SLURM_STEP_NODELIST=localhost,otherhost",
			}
		}},
	}
}

// hidden begins a shell command that runs as if on its own host: it does not see the folders of
// other hosts.
const hidden = `mount -t tmpfs none "$TMPDIR" && mount -t tmpfs none "$XDG_RUNTIME_DIR" || exit; `

// agent starts ranks as a launcher's agent on their host does: the agent is their parent, and ends
// when they have ended. If apart, the ranks do not see the folders of this host.
func (h home) agent(l launch, apart bool, ranks []int, args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := h.command(args...)
	var script strings.Builder
	if apart {
		needOwnMounts(h.t, cmd.Env)
		cmd.SysProcAttr = ownMounts()
		script.WriteString(hidden)
	}
	for _, r := range ranks {
		fmt.Fprintf(&script, `env %s "$@" & `, strings.Join(l.of(r), " "))
	}
	script.WriteString("wait")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", script.String(), "sh", cmd.Path}, args...)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); h.killLeft() })
	return cmd
}

// needOwnMounts skips a test if processes cannot have their own mounts.
func needOwnMounts(t *testing.T, env []string) {
	t.Helper()
	probe := exec.Command("/bin/sh", "-c", hidden)
	probe.Env, probe.SysProcAttr = env, ownMounts()
	if said, err := probe.CombinedOutput(); err != nil {
		needs.Root(t, "it gives processes their own mounts, which users may not do here")
		t.Skipf("a process cannot have its own mounts here: %v: %s", err, said)
	}
}

// Two agents of a launcher, on hosts that share no folders, start one session. Signals cross
// between the hosts over UCX, and collectives stay within each host. A rank on the other host that
// is killed is replaced.
func TestTwoAgents(t *testing.T) {
	t.Parallel()
	needUCX(t)
	for _, l := range launches(t) {
		t.Run(l.name, func(t *testing.T) {
			if strings.Contains(l.name, "IPv6") {
				needs.IPv6(t)
			}
			h := newHome(t, 4)
			h.env = []string{"SYMMREPL_TOKEN=" + strings.Repeat("0123456789abcdef", 2)}
			args := []string{"--device", "cpu"} // on one GPU two ranks would wait for each other
			agents := []*exec.Cmd{h.agent(l, true, []int{2, 3}, args...), h.agent(l, false, []int{1}, args...)}
			h.env = append(h.env, l.of(0)...)
			x := h.terminal(args...)
			x.expect("4 ranks, cpu.")
			x.enter(":topo")
			x.expect("UCX ")
			x.expect(" on lo carries traffic to it")
			checkAcross(x, 1)
			x.stuck(3, syscall.SIGKILL)
			x.expect("rank 3 was killed (SIGKILL): a fresh worker took over")
			checkAcross(x, 2)
			x.enter(":quit!")
			x.exit(0)
			for i, cmd := range agents {
				if err := end(t, fmt.Sprint("agent ", i), cmd); err != nil {
					t.Errorf("agent %d: %v", i, err)
				}
			}
			h.expectNothingLeft()
		})
	}
}

// checkAcross puts and signals between two hosts of two ranks each, and reduces within each host.
// Give each call in a session another number. The results are values, which are shown when all ranks
// have finished; lines that ranks print are not folded if one rank is much later than another.
func checkAcross(x *terminal, number int) {
	x.t.Helper()
	n := strconv.Itoa(number)
	x.enter(strings.ReplaceAll(`t# := symm.Empty(symm.F32, 2).Fill(symm.Rank() + 1); h# := symm.Rendezvous(t#); across# := (symm.Rank() + 2) % 4; `+
		`l# := symm.LSA().Empty(symm.F32, 2).Fill(symm.Rank() + #); symm.Rendezvous(l#)`, "#", n))
	x.enter(strings.ReplaceAll(`h#.Put(across#, symm.Local(symm.F32, 2).Fill(10 * symm.Rank() + #)); h#.PutSignal(across#, 0); h#.WaitSignal(across#, 0); fmt.Sprint("put #: ", t#.Float32s())`, "#", n))
	for rank := range 4 {
		x.expect(fmt.Sprintf("[%d] \"put %d: [%d %d]\"\n", rank, number, (rank+2)%4*10+number, (rank+2)%4*10+number))
	}
	x.enter(strings.ReplaceAll(`fmt.Sprint("sum #: ", symm.AllReduce(l#, "sum").Float32s())`, "#", n))
	x.expect(fmt.Sprintf("[0,1] \"sum %d: [%d %d]\"\n", number, 1+2*number, 1+2*number))
	x.expect(fmt.Sprintf("[2,3] \"sum %d: [%d %d]\"\n", number, 5+2*number, 5+2*number))
}
