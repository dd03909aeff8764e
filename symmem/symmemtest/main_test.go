package symmemtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/internal/shortdir"
	"github.com/symmrepl/symmrepl/symmem"
)

// Environment variables by which the binary configures its children.
const (
	rankVariable = "SYMMTEST_CHILD_RANK"
	sizeVariable = "SYMMTEST_CHILD_SIZE"
	dirVariable  = "SYMMTEST_CHILD_DIR"
	joinVariable = "SYMMTEST_CHILD_JOINS"
	hostVariable = "SYMMTEST_CHILD_HOSTS"

	sanitizeVariable = "SYMMTEST_SANITIZE" // not empty: all accesses are watched, and the sanitizer must find nothing

	othersVariable = "SYMMTEST_CHILD_OTHERS" // not empty: the child makes other worlds too
)

const (
	caseLimit = 60 * time.Second // time limit of a case, after which its ranks are released; more on a busy machine
	endLimit  = 60 * time.Second // time limit for the end of a rank, after which it is killed
)

// watchedSlower is the factor by which time limits grow while accesses are watched: each operation
// is then compiled at its first call.
const watchedSlower = 10

// wrongOnPurpose are the cases with mistakes that the sanitizer finds, including calls that do not
// match, and work after a wait that gave up.
var wrongOnPurpose = []string{"FreeWithWorkPending", "Trace", "SlowFinds", "CopyEngineTimeout", "CopyEngineAbort", "KernelBounds", "KernelBusy",
	"AllReduceChunksTimeout"}

// order is a command of the parent to a child; report is the answer.
type order struct {
	Run      string // run the case with this name
	Abort    string // abort for this reason; not answered
	Recover  bool
	Replaced []int // ranks that are new processes, for Recover
}

type report struct {
	Failed  bool
	Log     string
	Tallies []symmem.Tally
	Tried   tried // for the table of misuses
}

func TestMain(m *testing.M) {
	if os.Getenv(rankVariable) != "" {
		os.Exit(childMain())
	}
	if os.Getenv(startsVariable) != "" {
		startedProgram()
	}
	os.Exit(m.Run())
}

// TestSuite runs every case on every device with every number of ranks. On the cpu device 2 and 8
// ranks run with -worlds only, and 3 ranks without it run only the cases in which the number of ranks
// matters: the cases are those of 4 ranks.
func TestSuite(t *testing.T) {
	for _, device := range devices(t) {
		t.Run(device, func(t *testing.T) {
			counts := rankCounts(t, device)
			alone := counts[0] // the world of the cases ofOneRank
			if slices.Contains(counts, 4) {
				alone = 4
			}
			fewer := device == "cpu" && os.Getenv("SYMMTEST_RANKS") == "" && !*moreWorlds
			for _, n := range counts {
				t.Run(fmt.Sprintf("%dranks", n), func(t *testing.T) {
					briefly(t, n == 4)
					longWorld(t, fewer && (n == 2 || n == 8))
					w := start(t, device, n)
					for _, c := range slices.Concat(cases, remoteCases, shmemCases) {
						if n >= c.min && (c.many || n <= 4 && !(fewer && n == 3)) && (n == alone || !slices.Contains(ofOneRank, c.name)) {
							t.Run(c.name, func(t *testing.T) { w.run(t, c.name) })
						}
					}
				})
			}
		})
	}
}

// TestSanitized runs cases with all accesses watched: nothing may be found. With SYMMTEST_SANITIZE
// set, TestSuite and TestNetwork do so for all cases.
func TestSanitized(t *testing.T) {
	t.Setenv(sanitizeVariable, "1")
	w := start(t, "cpu", 2)
	for _, name := range []string{"Ring", "Barrier", "PutAndGet", "PeerMemory", "SignalPads", "CopyEngineGather", "Kernels",
		"HandleFields", "Expect", "ExpectDiffers", "Files", "NcclFirst", "NcclFence", "ShmemPrograms", "ShmemPuts", "ShmemCollectives"} {
		t.Run(name, func(t *testing.T) { w.run(t, name) })
	}
}

// TestSanitizedOverHosts does the same on two hosts, and also watches the engines of their network;
// with -worlds also on more hosts and over UCX.
func TestSanitizedOverHosts(t *testing.T) {
	t.Setenv(sanitizeVariable, "1")
	for i, c := range []division{{4, 2, "null reorder=on seed=3"}, {4, 4, "null reorder=on seed=4"}, {8, 2, "null"}, {4, 2, "ucx"}} {
		t.Run(fmt.Sprintf("%dranks/%dhosts/%s", c.ranks, c.hosts, c.network), func(t *testing.T) {
			longWorld(t, i > 0)
			needNetwork(t, "cpu", c.network)
			w := startOn(t, "cpu", c.ranks, strconv.Itoa(c.hosts), c.network)
			for _, name := range []string{"Ring", "Blocks", "NetworkPutAndGet", "NetworkSignalAdd", "NetworkBarrier", "NetworkStreams",
				"NetworkWays", "KernelPut", "KernelSignal", "KernelChannels", "NcclGin", "NcclGinAllToAll", "NcclFence", "VDevExamples",
				"TileExamples", "TileMultiRoot", "Permute", "ShmemPrograms", "ShmemPuts", "ShmemAtomics", "ShmemWaits", "ShmemCollectives",
				"ShmemTeams", "ShmemTensors", "ShmemGraph", "ShmemRefused", "ShmemTimeout", "ShmemFound"} {
				t.Run(name, func(t *testing.T) { w.run(t, name) })
			}
		})
	}
}

func devices(t *testing.T) []string {
	if d := os.Getenv("SYMMTEST_DEVICE"); d != "" {
		return []string{d}
	}
	if n := symmem.GPUs(); n < 2 {
		t.Logf("only the cpu device is tested: %d GPUs are here, two are needed", n)
		return []string{"cpu"}
	}
	return []string{"cpu", "cuda"}
}

// shared reports whether ranks share GPUs if there are too few. Meetings then cost milliseconds, so
// tests with very many meetings are left out.
func shared() bool { return os.Getenv("SYMMTEST_SHARED") != "" }

func rankCounts(t *testing.T, device string) (counts []int) {
	if s := os.Getenv("SYMMTEST_RANKS"); s != "" {
		for _, f := range strings.Split(s, ",") {
			n, err := strconv.Atoi(f)
			if err != nil {
				t.Fatalf("SYMMTEST_RANKS: %v", err)
			}
			counts = append(counts, n)
		}
		return counts
	}
	for _, n := range []int{1, 2, 3, 4, 8} {
		if device == "cpu" || n <= symmem.GPUs() {
			counts = append(counts, n)
		}
	}
	return counts
}

// briefly skips a test with -short, unless enough is set. -short is for checks of a rank's own
// code, such as cgocheck2: they run every case, but in few worlds, because neither the number of
// ranks nor the order of messages matters to them.
func briefly(t *testing.T, enough bool) {
	t.Helper()
	if testing.Short() && !enough {
		t.Skip("-short: other worlds have the same cases")
	}
}

// needRanks skips a test of n ranks if there are fewer devices and they are not shared, or if
// SYMMTEST_RANKS leaves out this number.
func needRanks(t *testing.T, device string, n int) {
	if gpus := symmem.GPUs(); device != "cpu" && gpus < n && !shared() {
		t.Skipf("%d GPUs are needed, %d are here", n, gpus)
	}
	if !slices.Contains(rankCounts(t, device), n) {
		t.Skipf("SYMMTEST_RANKS leaves out %d ranks", n)
	}
}

// ranks is a running world of child processes.
type ranks struct {
	device   string
	hosts    string // simulated hosts, "" for none
	network  string // the network between them, as in SYMMREPL_NET
	dir      string
	hub      *bootstrap.Hub
	children []*child
	size     int  // of the world
	died     bool // a rank has died
}

type child struct {
	rank    int
	control *json.Encoder
	reports chan report
	tallies []symmem.Tally // of the last case
	tried   tried          // likewise
	process *os.Process
	gone    chan struct{} // closed when the hub has noticed the child's end
	killed  bool
	output  bytes.Buffer
	mu      sync.Mutex
}

// start starts n ranks, which end with the test.
func start(t *testing.T, device string, n int) *ranks { return startOn(t, device, n, "", "none") }

// startOn is start on simulated hosts, with a network between them.
func startOn(t *testing.T, device string, n int, hosts, network string) *ranks {
	w := &ranks{device: device, hosts: hosts, network: network, dir: shortdir.New(t), hub: bootstrap.NewHub(n), size: n}
	for r := range n {
		w.children = append(w.children, w.spawn(t, r, n, ""))
	}
	if w.collect(t, caseLimit) {
		t.FailNow()
	}
	return w
}

// spawn starts one rank; joins is not empty if it replaces another.
func (w *ranks) spawn(t *testing.T, rank, size int, joins string) *child {
	meet, meetFile := socketpair(t)
	control, controlFile := socketpair(t)
	defer meetFile.Close()
	defer controlFile.Close()
	c := &child{rank: rank, control: json.NewEncoder(control), reports: make(chan report, 1), gone: make(chan struct{})}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", rankVariable, rank), fmt.Sprintf("%s=%d", sizeVariable, size), dirVariable+"="+w.dir,
		joinVariable+"="+joins, hostVariable+"="+w.hosts, "SYMMREPL_NET="+w.network, "SYMMTEST_DEVICE="+w.device, "GOMAXPROCS=2")
	cmd.ExtraFiles = []*os.File{meetFile, controlFile}
	cmd.Stdout, cmd.Stderr = c, c
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.process = cmd.Process
	go func() {
		w.hub.Serve(rank, meet)
		close(c.gone)
	}()
	go c.receive(control)
	t.Cleanup(func() {
		control.Close() // the child ends
		timer := time.AfterFunc(endLimit, func() { cmd.Process.Kill() })
		defer timer.Stop()
		if err := cmd.Wait(); err != nil && !c.killed {
			t.Errorf("rank %d: %v\n%s", rank, err, c.said())
		}
	})
	return c
}

// Write collects the child's output.
func (c *child) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.output.Write(p)
}

func (c *child) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.output.String()
	c.output.Reset()
	return s
}

func (c *child) receive(control io.Reader) {
	defer close(c.reports)
	in := json.NewDecoder(control)
	for {
		var r report
		if in.Decode(&r) != nil {
			return
		}
		c.reports <- r
	}
}

// TestReplace kills a rank, puts a new process in its place, and checks what is lost and what still
// works.
func TestReplace(t *testing.T) {
	for _, device := range devices(t) {
		t.Run(device, func(t *testing.T) {
			counts := rankCounts(t, device)
			n := min(4, counts[len(counts)-1])
			if n < 2 {
				t.Skip("two ranks are needed")
			}
			w := start(t, device, n)
			w.run(t, "BeforeReplacement")
			w.replace(t, 1)
			w.run(t, "AfterReplacement")
			w.run(t, "Ring")
			if !shared() { // TestSuite takes longest for this
				w.run(t, "AllReduce")
			}
		})
	}
}

// replace kills a rank and lets all recover with a new process in its place.
func (w *ranks) replace(t *testing.T, rank int) {
	dead := w.children[rank]
	dead.killed = true
	dead.process.Kill()
	select {
	case <-dead.gone:
	case <-time.After(endLimit):
		t.Fatalf("the hub has not noticed that rank %d was killed", rank)
	}
	w.children[rank] = w.spawn(t, rank, w.size, "yes")
	if (&ranks{hub: w.hub, children: w.children[rank : rank+1]}).collect(t, caseLimit) {
		t.FailNow()
	}
	w.enter()
	for _, c := range w.children {
		c.control.Encode(order{Recover: true, Replaced: []int{rank}})
	}
	if w.collect(t, caseLimit) {
		t.FailNow()
	}
}

// run runs a case on all ranks and shows the failures. If there are none, the ranks must have made
// the same calls.
func (w *ranks) run(t *testing.T, name string) {
	for _, c := range w.children {
		c.control.Encode(order{Run: name}) // collect notices a dead child
	}
	limit := caseLimit
	if os.Getenv(sanitizeVariable) != "" {
		limit *= watchedSlower
	}
	if !w.collect(t, limit) {
		w.compareTallies(t)
		return
	}
	w.enter()
	for _, c := range w.children {
		c.control.Encode(order{Recover: true})
	}
	w.collect(t, caseLimit)
}

// compareTallies compares the ranks' tallies of each group.
func (w *ranks) compareTallies(t *testing.T) {
	tallies := map[string]symmem.Tally{} // the tally of each group's first member
	for _, c := range w.children {
		for _, mine := range c.tallies {
			first, ok := tallies[mine.Key]
			if !ok {
				tallies[mine.Key] = mine
			} else if mine.Calls != first.Calls || mine.Digest != first.Digest {
				t.Errorf("%s: rank %d made %d calls, the last of them %s, not the %d of rank %d, the last of them %s", mine.Group,
					c.rank, mine.Calls, mine.Last, first.Calls, first.Ranks[0], first.Last)
			}
		}
	}
}

// enter lets all ranks take part again.
func (w *ranks) enter() {
	for r := range w.children {
		w.hub.Enter([]int{r})
	}
}

// collect receives a report from every child. If one fails, the others are released.
func (w *ranks) collect(t *testing.T, limit time.Duration) (failed bool) {
	limit = pace.Unhurried(limit)
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	graceful := false
	release := func(why string) {
		for _, c := range w.children {
			c.control.Encode(order{Abort: why})
		}
	}
	for _, c := range w.children {
	waiting:
		for {
			select {
			case r, alive := <-c.reports:
				if !alive {
					w.died = true
					t.Fatalf("rank %d died\n%s", c.rank, c.said())
				}
				c.tallies, c.tried = r.Tallies, r.Tried
				if r.Failed {
					failed = true
					t.Errorf("rank %d:\n%s%s", c.rank, indent(r.Log), indent(c.said()))
					w.hub.Leave(c.rank, "failed the case")
					if !graceful {
						graceful = true
						defer later(100*time.Millisecond, func() { release(fmt.Sprintf("rank %d failed", c.rank)) })()
					}
				}
				break waiting
			case <-deadline.C:
				failed = true
				t.Errorf("rank %d is not done after %v; calls that some ranks have made: %v", c.rank, limit, w.hub.Pending())
				release("the case took too long")
				deadline.Reset(10 * time.Second)
			}
		}
	}
	return failed
}

func indent(s string) string {
	if s == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ") + "\n"
}

// socketpair returns two ends, one to keep and one to pass on.
func socketpair(t *testing.T) (net.Conn, *os.File) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	mine := os.NewFile(uintptr(fds[0]), "parent")
	defer mine.Close()
	conn, err := net.FileConn(mine)
	if err != nil {
		t.Fatal(err)
	}
	return conn, os.NewFile(uintptr(fds[1]), "child")
}
