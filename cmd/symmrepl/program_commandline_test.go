package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

func TestEval(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	r := h.run("", "--device", device(), "-n", "2", "-e",
		`import "os"; fmt.Println("to", "out"); fmt.Fprintln(os.Stderr, "to err"); symm.Rank()`)
	if r.status != 0 || r.out != "[0,1] to out\n[0] 0\n[1] 1\n" || r.err != "[0,1] to err\n" {
		t.Errorf("%+v", r)
	}
	if strings.Contains(r.out+r.err, "\x1b") {
		t.Errorf("colours without a terminal: %q", r.out+r.err)
	}
	r = h.run("", "-n", "2", "--device", device(), "--eval", `panic("no " + "way")`)
	if r.status != 1 || !strings.HasPrefix(r.err, "[0,1] cell[1]:1:1: ") || !strings.Contains(r.err, "no way") {
		t.Errorf("%+v", r)
	}
	h.expectNothingLeft()
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	file := filepath.Join(h.dir, "script.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args   string
		status int
		want   string // a part of the output
	}{
		{"--help", 0, "Exit status: 0"},
		{"--help", 0, fmt.Sprintf("ranks to start, 1 to %d and at most %d on a host;", symmem.MaxWorld, symmem.MaxRanks)},
		{"-h", 0, "symmrepl run FILE.go"},
		{"help", 0, "Flags, which may stand"},
		{"version", 0, "symmrepl 0."},
		{"version", 0, "; kernels on the cpu device are compiled by "},
		{"man", 0, ".TH SYMMREPL 1"},
		{"man 1", 2, "man takes no arguments"},
		{"completion bash", 0, "complete -F _symmrepl symmrepl"},
		{"completion csh", 2, "completion needs the name of a shell: bash, zsh or fish"},
		{"lab", 3, "the Python package of symmrepl"},
		{"-n 0", 2, "symmrepl: invalid value \"0\" for flag -n: a number from 1 to 1024 is expected\n"},
		{"-n 73", 2, "symmrepl: 73 ranks on one host, but at most 72 may share memory: simulate more hosts by --hosts\n"},
		{"-n 1000 --hosts 2", 2, "symmrepl: 500 ranks on one host, but at most 72 may share memory: simulate more hosts by --hosts\n"},
		{"-n four", 2, "invalid value \"four\" for flag -n: a number is expected\n"},
		{"--ranks 2x", 2, "invalid value \"2x\" for flag -ranks: a number is expected\n"},
		{"-n", 2, "-n needs a value"},
		{"--version", 0, "symmrepl 0."},
		{"--colour", 2, "there is no flag --colour"},
		{"--ranks", 2, "--ranks needs a value"},
		{"--device tpu", 2, `unknown device "tpu": use one of auto, cpu, cuda`},
		{"nosuch", 2, `there is no subcommand "nosuch"; there are run, trace, check, export, tutorial, lab, attach, kernel, serve, torchrun, companion, mcp, dap, doctor, bench, completion, man and version`},
		{file, 2, "Did you mean symmrepl run " + file + "?"},
		{"run", 2, "run needs one file"},
		{"run nosuch.go 1", 2, "run: open nosuch.go: no such file or directory"},
		{"run nosuch.go", 2, "run: open nosuch.go: no such file or directory"},
		{"run x -e y", 2, "give one of them"},
		{"bench nosuch", 2, `bench: there is no "nosuch"; there are session, cell, kernels, net, load, overlap, fsdp, token_switch, tensors, one_shot_all_reduce, two_shot_all_reduce, all_reduce, `},
		{"bench barrier --dtype f8", 2, "--dtype f8: bf16, f16, f32, f64, i32, i64 can be measured"},
		{"bench barrier --sizes 4Q", 2, "numbers of bytes up to 1073741824, such as 4096, 64K or 1M, are expected"},
		{"bench barrier signal_ring --svg x.svg", 2, "--svg draws operations over their sizes: name one that has sizes, not only barrier and signal_ring"},
		{"bench fsdp --svg x.svg", 2, "--svg draws operations over their sizes, and fsdp has a table"},
		{"bench overlap --svg x.svg", 2, "--svg draws operations over their sizes, which overlap does not have"},
		{"bench token_switch --sizes 4K", 2, "bench token_switch has sizes of its own and no peers: leave out --sizes, --svg and --peers"},
		{"bench put --svg /nosuch/x.svg -n 1 --device cpu", 3, "--svg: open /nosuch/x.svg: no such file or directory"},
		{"-e 1 --timeout 5", 2, "a time such as 90s or 5m is expected\n"},
		{"-e 1 --timeout -5s", 2, "a time such as 90s or 5m is expected\n"},
		{"tutorial hello --timeout 5s", 2, "--timeout applies to run, trace, torchrun, check and -e only\n"},
		{"--timeout 5s", 2, "--timeout applies to run, trace, torchrun, check and -e only\n"},
		{"trace", 2, "trace needs one file, such as symmrepl trace hello.go"},
		{"run x --out y", 2, "--out applies to trace only\n"},
		{"-e 1 --svg x.svg", 2, "--svg applies to bench only\n"},
		{"-e 1 --sizes 4K", 2, "--sizes applies to bench only\n"},
		{"--attach", 2, "--attach applies to kernel and serve only\n"},
		{"serve x", 2, "serve takes no arguments"},
		{"serve --sanitize", 2, "--sanitize applies to run, torchrun, -e and the prompt only\n"},
		{"serve --attach=/nosuch", 3, "/nosuch cannot be reached"},
		{"mcp a b", 2, "mcp takes one session at most; 2 were given\n"},
		{"mcp /nosuch", 3, "/nosuch cannot be reached"},
		{"mcp /nosuch -n 2", 2, "mcp attaches to the session in /nosuch, and -n starts another one: give one of them\n"},
		{"serve --read-only", 2, "--read-only applies to mcp only\n"},
		{"mcp -n 1 --device cpu --socket /nosuch/s", 3, "--socket: open /nosuch: no such file or directory"},
		{"dap x", 2, "dap takes no arguments"},
		{"dap --socket s --listen 127.0.0.1:0", 2, "--socket and --listen are two ways to wait for editors: give one of them\n"},
		{"dap --socket /nosuch/s", 3, "--socket: open /nosuch: no such file or directory"},
		{"dap --listen 127.0.0.1:0", 3, "--listen: any user of this machine could run code: "},
		{"mcp --listen 127.0.0.1:0", 2, "--listen applies to dap only\n"},
		{"serve --socket s", 2, "--socket applies to mcp and dap only\n"},
		{"kernel run --user x", 2, "--user applies to kernel install only\n"},
		{"run --name x " + file, 2, "--name applies to kernel install only\n"},
		{"bench put --sanitize", 2, "--sanitize applies to run, torchrun, -e and the prompt only\n"},
		{"-e 1 --schedules 3", 2, "--schedules goes with --sanitize\n"},
		{"-n 2,4", 2, "several numbers of ranks apply to check only"},
		{"run x -I y", 2, "-I applies to check only\n"},
		{"-e 1 --sanitize --schedules 0", 2, "--schedules 0: a number from 1 on is expected"},
		{"run --json " + file, 2, "--json applies to bench and check, and with --sanitize to run, torchrun and -e\n"},
		{"--sanitize --json", 2, "--json applies to bench and check, and with --sanitize to run, torchrun and -e\n"},
		{"-n 4 --hosts 3 -e 1", 2, `symmrepl: hosts "3": 4 ranks cannot be divided among 3 hosts: each must have as many as the others` +
			"\n"},
		{"run " + file + " -n 4 --hosts 0-2/3", 2, "host 1 has 1 ranks and host 0 has 3"},
		{"tutorial hello -n 4 --hosts 0-3/4-7", 2, "rank 7 does not exist: ranks are 0 to 3"},
		{"kernel install --name a/b", 2, `a kernel cannot be called "a/b"`},
		{"-e 1 --backend nccl", 2, `unknown back end "nccl": use one of CUDA, NCCL, NVSHMEM, CPU`},
		{"-e 1 --rdzv localhost:1", 2, "--rdzv is where processes of a launcher meet"},
		{"version 2", 2, "version takes no arguments"},
		{"attach /nosuch", 3, "/nosuch"},
		{"attach", 3, "symmrepl: "},
		{"attach 1", 3, "process 1 is no symmrepl torchrun of yours on this host"},
		{"attach a b", 2, "attach takes one session or program at most; 2 were given"},
		{"-n 1 --device cpu --backend NCCL -e 1", 3,
			"symmrepl: --backend NCCL: it needs the cuda device, this is cpu (start with --device cuda, or leave --backend out)\n"},
		{"-n 1 --device cpu --backend NVSHMEM -e 1", 3,
			"symmrepl: --backend NVSHMEM: it needs the cuda device, this is cpu (start with --device cuda, or leave --backend out)\n"},
	} {
		r := h.run("", strings.Fields(test.args)...)
		if r.status != test.status || !strings.Contains(r.out+r.err, test.want) {
			t.Errorf("%s: %+v, want status %d and %q", test.args, r, test.status, test.want)
		}
		if r.status != 0 && strings.Count(r.err, "\n") > 4 {
			t.Errorf("%s: the error is too long: %s", test.args, r.err)
		}
	}
	h.expectNothingLeft()
}

// A signal interrupts the script, and the exit status is 128 plus the signal's number.
func TestSignalWhileScriptRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	cmd := h.command("-n", "2", "--device", device(), "-e", `fmt.Println("begun"); select {}`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	defer time.AfterFunc(patience(), func() { cmd.Process.Kill() }).Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "[0,1] begun\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	cmd.Process.Signal(os.Interrupt)
	end(t, "the script", cmd)
	if got := cmd.ProcessState.ExitCode(); got != 128+2 {
		t.Errorf("exit status %d", got)
	}
	h.expectNothingLeft()
}
