package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
)

// pythonVariable is the environment variable that names a Python with Jupyter's libraries. `make
// test` sets it.
const pythonVariable = "SYMMREPL_JUPYTER"

// jupyter returns a home in which a kernel of two ranks is installed.
func jupyter(t *testing.T) home {
	t.Helper()
	if os.Getenv(pythonVariable) == "" {
		t.Skipf("%s does not name a Python with Jupyter's libraries; make test installs one", pythonVariable)
	}
	h := newHome(t, 2)
	data := filepath.Join(h.dir, "data")
	h.env = []string{"JUPYTER_DATA_DIR=" + data, "JUPYTER_RUNTIME_DIR=" + filepath.Join(h.dir, "runtime"), "IPYTHONDIR=" +
		filepath.Join(h.dir, "ipython"),
		"JUPYTER_CONFIG_DIR=" + filepath.Join(h.dir, "config"), "JUPYTER_PLATFORM_DIRS=1", "JUPYTER_PREFER_ENV_PATH=0",
		"PYTHONDONTWRITEBYTECODE=1", "NO_COLOR=1", "HOME=" + h.dir}
	if r := h.run("", "kernel", "install", "-n", "2", "--device", device()); r.status != 0 || r.out != data+"/kernels/symmrepl\n" {
		t.Fatalf("%+v", r)
	}
	return h
}

// measured matches the measurements that Python tests print.
var measured = regexp.MustCompile(`: [0-9.]+ m?s`)

// clients runs the tests of a Python file. Each is a test of its own.
func (h home) clients(file string) {
	h.t.Helper()
	_, errs, err := h.runPython(5*time.Minute, filepath.Join("testdata", "jupyter"), "-m", "unittest", "-v", file)
	if err != nil {
		h.t.Errorf("%v\n%s", err, errs)
	}
	for line := range strings.Lines(errs) {
		if strings.Contains(line, "skipped") || measured.MatchString(line) {
			h.t.Log(strings.TrimSpace(line))
		}
	}
	h.expectNothingLeft()
}

// runClients runs the tests of a Python file in parallel with other tests. They start their own
// kernels.
func runClients(t *testing.T, file string) {
	t.Parallel()
	jupyter(t).clients(file)
}

// runPython runs the Python with Jupyter's libraries in a folder. The programs beside that Python come
// before those of the machine, which may be old ones. After limit, at the pace of this machine, it ends
// that Python and all processes that it has started; standard error then ends with the stack of each
// Python thread.
func (h home) runPython(limit time.Duration, dir string, args ...string) (out, errs string, err error) {
	h.t.Helper()
	python, err := filepath.Abs(os.Getenv(pythonVariable))
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := pace.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, append([]string{"-W", "ignore", "-X", "faulthandler"}, args...)...)
	cmd.Dir, cmd.Env = dir, h.command().Env
	path := os.Getenv("PATH")
	for _, v := range cmd.Env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(python)+":"+path)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGABRT) }
	cmd.WaitDelay = 5 * time.Second // kernels that it started may hold its standard output open
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("%s did not end within %v at the pace of this machine: %w", strings.Join(args, " "), limit, err)
		h.killLeft()
	}
	return stdout.String(), stderr.String(), err
}

func TestJupyterKernel(t *testing.T)  { runClients(t, "kernel_test") }
func TestJupyterClients(t *testing.T) { runClients(t, "clients_test") }
func TestJupyterDebug(t *testing.T)   { runClients(t, "debug_test") }
func TestJupyterWidgets(t *testing.T) { runClients(t, "widgets_test") }
func TestJupyterLab(t *testing.T)     { runClients(t, "lab_test") }

// With SYMMREPL_PICTURES=FOLDER it writes the pictures of docs/notebooks.md, and so does
// TestJupyterLab.
func TestJupyterLabOutputs(t *testing.T) { runClients(t, "lab_outputs_test") }

func TestJupyterLabTimeline(t *testing.T) { runClients(t, "lab_timeline_test") }

// It needs the extension jupyterlab_widgets, whose folder share/jupyter JUPYTER_PATH may name. With
// SYMMREPL_PICTURES it writes the pictures of widgets in docs/notebooks.md.
func TestJupyterLabWidgets(t *testing.T) { runClients(t, "lab_widgets_test") }

func TestJupyterLabHostile(t *testing.T) { runClients(t, "lab_hostile_test") }

// With SYMMREPL_PICTURES it writes the pictures of docs/debugging.md.
func TestJupyterLabDebug(t *testing.T) { runClients(t, "lab_debug_test") }

// It needs a Python with the package notebook.
func TestNotebook7(t *testing.T) { runClients(t, "notebook7_test") }

// TestVSCode speaks to the kernel as the Jupyter extension of VS Code does. An environment variable
// names the folder node_modules with the packages of .ci/vscode.txt; .ci/test-long vscode sets it.
func TestVSCode(t *testing.T) {
	t.Parallel()
	const variable = "SYMMREPL_VSCODE"
	if os.Getenv(variable) == "" {
		t.Skipf("%s does not name a folder with @jupyterlab/services; .ci/test-long vscode makes one", variable)
	}
	h := newHome(t, 2)
	if r := h.run("", "kernel", "install", "--prefix", h.dir, "-n", "2", "--device", device()); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	ctx, cancel := pace.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--test-reporter", "spec", "kernel.test.js")
	cmd.Dir = filepath.Join("testdata", "jupyter", "vscode")
	cmd.Env = append(h.command().Env, "NODE_PATH="+os.Getenv(variable), "KERNEL_JSON="+filepath.Join(h.dir, "share/jupyter/kernels/symmrepl/kernel.json"))
	cmd.WaitDelay = 5 * time.Second // kernels that it started may hold its standard output open
	if out, err := cmd.CombinedOutput(); err != nil {
		h.killLeft()
		t.Fatalf("%v\n%s", err, out)
	}
	h.expectNothingLeft()
}

// TestGophernotes needs an environment variable with the folder that .ci/gophernotes makes; `make
// gophernotes` sets it.
func TestGophernotes(t *testing.T) {
	t.Parallel()
	const variable = "SYMMREPL_GOPHERNOTES"
	if os.Getenv(variable) == "" {
		t.Skipf("%s does not name a folder with gophernotes; make gophernotes builds one", variable)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	h := jupyter(t)
	h.env = append(h.env, "GOCACHE="+strings.TrimSpace(string(cache))) // the home has no build cache, and compiling the standard library takes long
	h.clients("gophernotes_test")
}

func TestKernelInstall(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	prefix := filepath.Join(h.dir, "prefix")
	r := h.run("", "kernel", "install", "--prefix", prefix, "--name", "four", "-n", "4", "--hosts", "2", "--device", "cpu")
	dir := filepath.Join(prefix, "share/jupyter/kernels/four")
	if r.status != 0 || r.out != dir+"\n" {
		t.Fatalf("%+v", r)
	}
	text, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	program, _ := os.Executable()
	want := map[string]any{
		"argv":         []any{program, "kernel", "run", "--ranks", "4", "--device", "cpu", "--hosts", "2", "{connection_file}"},
		"display_name": "symmrepl (4 ranks, hosts 2, cpu)", "language": "go", "interrupt_mode": "message",
		"metadata": map[string]any{"debugger": true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, file := range []string{"logo-32x32.png", "logo-64x64.png", "logo-svg.svg", "symmrepl_jupyter-0.1.0-py3-none-any.whl"} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	for args, want := range map[string]string{
		"kernel":                                 "kernel needs a subcommand",
		"kernel install --user --prefix /p":      "give one of them",
		"kernel install -n 4 --hosts 3":          "4 ranks cannot be divided among 3 hosts",
		"kernel install --name a/b":              `a kernel cannot be called "a/b"`,
		"kernel run /nosuch.json":                "/nosuch.json: no such file",
		"kernel run " + dir + "/logo-32x32.png":  "is not a connection file",
		"kernel run " + public(t, h.dir):         "give the connection a key",
		"kernel run " + public(t, h.dir) + " -x": "there is no flag -x",
		"kernel run " + inUse(t, h.dir):          "the shell port, which Jupyter chose, is in use",
	} {
		if r := h.run("", strings.Fields(args)...); r.status == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
}

// inUse returns a connection file with a socket that another program listens on.
func inUse(t *testing.T, dir string) string {
	socket := filepath.Join(dir, "s")
	taken, err := net.Listen("unix", socket+"-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	file := filepath.Join(dir, "used.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"transport": "ipc", "ip": %q, "shell_port": 1, "iopub_port": 2, "key": "k"}`, socket),
		0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// public returns a connection file that would let every host connect without a key.
func public(t *testing.T, dir string) string {
	file := filepath.Join(dir, "public.json")
	if err := os.WriteFile(file, []byte(`{"ip": "0.0.0.0", "key": ""}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
