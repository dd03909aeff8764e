// The prefix of a file names the subject of its tests: program_ command lines and programs that run
// to their end, prompt_ a user at a terminal, jupyter_ notebooks, lessons_ tutorials, session_
// sessions of cells, misuse_ and faults_ errors of cells and of processes, hosts_ launchers and
// several hosts, check_ cases beside kernels, devices_ GPUs and NCCL, sanitizer_ the sanitizer's
// findings. The tests start real processes: this test binary is also the program.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cli"
	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/internal/shortdir"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
	"github.com/symmrepl/symmrepl/session/worker"
	"github.com/symmrepl/symmrepl/symmem"
)

// programVariable makes the test binary run as the program, so that the tests drive real processes.
const programVariable = "SYMMREPL_TEST_PROGRAM"

// binaryVariable names another program for the tests to drive in place of their own binary: one
// that was built elsewhere, such as a wheel's.
const binaryVariable = "SYMMREPL_TEST_BINARY"

// patience bounds every wait of these tests.
func patience() time.Duration { return pace.Unhurried(time.Minute) }

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" || worker.Is() {
		os.Exit(cli.Main(os.Args[1:]))
	}
	os.Exit(runTests(m))
}

// runTests runs the tests, and returns the exit status. The sessions that tests start in this process
// share a home, which is removed at the end: the environment of a process is one, so tests that each
// set their own could not run side by side.
func runTests(m *testing.M) int {
	dir, err := makeHome()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, variable := range homeVariables(dir) {
		name, value, _ := strings.Cut(variable, "=")
		os.Setenv(name, value)
	}
	// programs with another HOME share the user's compiled kernels
	if user, err := os.UserCacheDir(); err == nil && os.Getenv("SYMMREPL_CACHE") == "" {
		os.Setenv("SYMMREPL_CACHE", filepath.Join(user, "symmrepl"))
	}
	return m.Run()
}

// homes is the folder of homes, which have sockets.
var homes = shortdir.Root()

// makeHome makes the folders of a home.
func makeHome() (dir string, err error) {
	dir, err = os.MkdirTemp(homes, "h")
	for _, sub := range []string{"tmp", "run", "state", "cache"} {
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, sub), 0o700)
		}
	}
	return dir, err
}

// homeVariables returns the variables that make programs leave their files in a home.
func homeVariables(dir string) []string {
	return []string{"TMPDIR=" + dir + "/tmp", "XDG_RUNTIME_DIR=" + dir + "/run", "XDG_STATE_HOME=" + dir + "/state"}
}

// device returns the device of the tests: SYMMREPL_TEST_DEVICE, or cpu.
func device() string {
	if d := os.Getenv("SYMMREPL_TEST_DEVICE"); d != "" {
		return d
	}
	return "cpu"
}

// home is a folder that holds every file that a program may leave behind.
type home struct {
	t   *testing.T
	dir string
	env []string // further environment variables of its programs
	cwd string   // the current folder of its programs; "" for that of the tests
}

// newHome returns a fresh home for sessions of at most this number of ranks. It skips the test if
// there are fewer devices.
func newHome(t *testing.T, ranks int) home {
	t.Helper()
	needDevices(t, ranks)
	dir, err := makeHome()
	t.Cleanup(func() {
		if t.Failed() {
			logCrashes(t, dir)
		}
		os.RemoveAll(dir)
	})
	if err != nil {
		t.Fatal(err)
	}
	return home{t: t, dir: dir}
}

// logCrashes logs the beginnings of the reports of workers that crashed, which go with the home.
func logCrashes(t *testing.T, home string) {
	const most = 16 << 10 // bytes of each
	files, _ := filepath.Glob(filepath.Join(home, "state", "symmrepl", "crash*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		t.Logf("%s (%v):\n%s", filepath.Base(file), err, text[:min(len(text), most)])
	}
}

// needDevices skips the test if there are fewer devices than ranks.
func needDevices(t *testing.T, ranks int) {
	t.Helper()
	if gpus := symmem.GPUs(); device() == "cuda" && gpus < ranks {
		t.Skipf("needs %d GPUs, found %d", ranks, gpus)
	}
}

// command returns a command that runs the program. The environment marks every process that it
// starts, so that processes finds them.
func (h home) command(args ...string) *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	if other := os.Getenv(binaryVariable); other != "" {
		program = other
	}
	cmd := exec.Command(program, args...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "NO_COLOR" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, programVariable+"="+h.dir, "TERM=xterm")
	cmd.Env = append(cmd.Env, homeVariables(h.dir)...)
	cmd.Env = append(cmd.Env, h.env...)
	cmd.Dir = h.cwd
	return cmd
}

// result is the exit status and the output of a program.
type result struct {
	status   int
	out, err string
}

// run runs the program to its end with this standard input.
func (h home) run(stdin string, args ...string) result {
	h.t.Helper()
	return h.runWithin(patience(), stdin, args...)
}

// runWithin is run for programs that may take longer than patience.
func (h home) runWithin(limit time.Duration, stdin string, args ...string) result {
	h.t.Helper()
	cmd := h.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	defer context.AfterFunc(ctx, func() { cmd.Process.Kill() })()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// script writes a file of a home and returns its name.
func (h home) script(name, text string) string {
	h.t.Helper()
	file := filepath.Join(h.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return file
}

// launchHere starts a session in this process, on one host.
func launchHere(t *testing.T, ranks int) session.Session {
	t.Helper()
	return launchOn(t, ranks, session.Hosts{})
}

// launchOn starts a session in this process, on simulated hosts.
func launchOn(t *testing.T, ranks int, hosts session.Hosts) session.Session {
	t.Helper()
	needDevices(t, ranks)
	ctx, cancel := context.WithTimeout(t.Context(), patience())
	defer cancel()
	s, err := controller.Launch(ctx, session.Config{Ranks: ranks, Device: device(), Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// evalPatiently runs a cell. It interrupts a cell that does not end in patience, so that the reply says
// what its ranks did then, and the tests after it run.
func evalPatiently(t *testing.T, s session.Session, cell session.Cell) session.Reply {
	ctx, cancel := context.WithTimeout(t.Context(), patience())
	defer cancel()
	return s.Eval(ctx, cell)
}

// end waits until a started program ends, and returns the result of its Wait. The error message
// calls the program what.
func end(t *testing.T, what string, cmd *exec.Cmd) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	limit := patience()
	select {
	case err := <-ended:
		return err
	case <-time.After(limit):
		cmd.Process.Kill()
		t.Fatalf("%s did not end in %v", what, limit)
		return nil
	}
}

// processes lists the folders in /proc of this home's programs and of the processes that they have
// started.
func (h home) processes() []string {
	var found []string
	for _, pid := range procfs.Processes() {
		dir := fmt.Sprintf("/proc/%d", pid)
		text, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && bytes.Contains(text, []byte(programVariable+"="+h.dir+"\x00")) {
			found = append(found, dir)
		}
	}
	return found
}

// killLeft kills the processes of this home.
func (h home) killLeft() {
	for _, dir := range h.processes() {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// leftovers lists the processes that this home's programs have left, and the entries in their
// temporary and run-time folders.
func (h home) leftovers() []string {
	found := h.processes()
	for _, dir := range []string{"tmp", "run"} {
		filepath.WalkDir(filepath.Join(h.dir, dir), func(path string, entry os.DirEntry, err error) error {
			if err == nil && !(entry.IsDir() && h.mayStay(path)) {
				found = append(found, path)
			}
			return nil
		})
	}
	return found
}

// mayStay reports whether a folder may outlive sessions because all of them share it.
func (h home) mayStay(dir string) bool {
	rel, _ := filepath.Rel(h.dir, dir)
	return strings.Count(rel, "/") <= 1
}

// expectNothingLeft waits until no leftovers are left.
func (h home) expectNothingLeft() {
	h.t.Helper()
	for deadline := time.Now().Add(patience()); ; {
		began := time.Now()
		left := h.leftovers()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			h.t.Errorf("left behind: %v", left)
			return
		}
		time.Sleep(max(20*time.Millisecond, 20*time.Since(began))) // a look reads the environments of all processes
	}
}

// sharedMemory lists the files in /dev/shm that this home's programs have mapped. Other programs
// have files there too.
func (h home) sharedMemory() (names []string) {
	for _, process := range h.processes() {
		maps, _ := os.ReadFile(filepath.Join(process, "maps"))
		for line := range strings.Lines(string(maps)) {
			if _, name, found := strings.Cut(strings.TrimSpace(line), "/dev/shm/"); found {
				names = append(names, "/dev/shm/"+name)
			}
		}
	}
	return names
}

// needUCX skips a test if UCX cannot be loaded to carry traffic between hosts.
func needUCX(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(symmem.Doctor()) {
		if strings.HasPrefix(line, "hosts ") && strings.Contains(line, "nothing (") {
			t.Skip(line)
		}
	}
}

// freePort returns a port at which no program listens. It is outside the range from which the
// kernel assigns ports.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		if l, err := net.Listen("tcp", fmt.Sprint(":", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// byHand returns the variables with which a user starts a rank in a terminal.
func byHand(rank, size, port int) []string {
	return []string{fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", size), "MASTER_ADDR=localhost", fmt.Sprint("MASTER_PORT=", port)}
}

// launched returns the environment that torchrun gives to a rank on one host.
func launched(rank, size int) []string {
	var env []string
	for name, value := range map[string]int{
		"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "MASTER_PORT": 29517,
	} {
		env = append(env, fmt.Sprintf("%s=%d", name, value))
	}
	return append(env, "MASTER_ADDR=127.0.0.1")
}
