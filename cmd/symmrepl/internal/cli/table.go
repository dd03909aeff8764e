package cli

import (
	"flag"
	"strings"
)

// The texts of --help, of the manual page and of the shells' completions are made from the following
// tables, and flags are parsed by theirs. A subcommand also has a row in subcommands; a test compares
// the two.

// form is a way to call the program.
type form struct {
	words string // the words behind its name: "run FILE.go [ARG...]"
	text  string
}

const intro = `symmrepl drives N GPUs from one prompt: a cell of Go typed once runs on every rank in lockstep. Symmetric memory, one-sided puts, signals, collectives and your own CUDA kernels are one call away. Without a GPU the ranks run on an emulated device in host memory.`

var forms = []form{
	{"", "a prompt"},
	{"-e CODE", "run one cell"},
	{"run FILE.go [ARG...]", "run a script, in which each line that begins with // %% begins a cell, or a program of package main; - reads it from standard input; flags among the arguments stand after --"},
	{"run FOLDER [ARG...]", "run the program of package main in a folder; several files may be given in its place"},
	{"trace FILE.go [--out FILE.pftrace] [ARG...]",
		"run a script and show one timeline of all ranks: when each kernel, copy and wait ran, the critical path, and the rank for which the others waited; with --out also write the timeline for ui.perfetto.dev"},
	{"check PATH...",
		"run the cases that stand in comments beside kernels, in files and below folders, on 2 and 4 ranks of the cpu device under the sanitizer; also the scripts whose names end with _symm.go"},
	{"export FILE.go -o NAME [--cpp]", "write the cells of a script as a program, without running them: of Go as NAME.go or as the folder NAME with its packages, as NAME.py for PyTorch's symmetric memory, or with --cpp of C++ in the folder NAME"},
	{"tutorial [NAME | --list]", "list the tutorials, or step through one at a prompt"},
	{"lab [FOLDER]", "copy the notebooks of the tutorials to FOLDER, by default symmrepl-notebooks, and open JupyterLab there; the Python package of symmrepl brings this command"},
	{"attach [DIR | PID]", "open a second prompt on a running session of yours, or a session beside a program of symmrepl torchrun that stands, whose tensors are then tensors in cells, in the same memory; without DIR, its folder, or PID, the process of symmrepl torchrun, it asks which one if there are several"},
	{"kernel install", "install a Jupyter kernel that starts a session with these flags"},
	{"kernel run FILE", "serve the front ends of a connection file; Jupyter starts this command"},
	{"serve", "hold a session for another program, which sends requests on standard input; the Python package symmrepl starts this command"},
	{"torchrun [-m] PROGRAM.py [ARG...]",
		"run a program of Python on every rank, with the variables of PyTorch's torchrun: with import symmrepl.torch its symmetric memory works without GPUs, and ranks that wait in vain are explained; flags stand before the program"},
	{"companion", "compile kernels for a program whose own processes are the ranks, which sends requests on standard input; the Python package symmrepl.torch starts this command"},
	{"mcp [DIR] [--read-only] [--socket PATH]",
		"let programs and agents use a session by the Model Context Protocol, over standard input and output or a socket: a running session of yours, whose prompt shows their cells, or with -n a session of their own"},
	{"dap [--socket PATH | --listen ADDRESS]",
		"let an editor debug by the Debug Adapter Protocol, over standard input and output, a socket, or a port of this machine: it launches a program, or attaches to a running session of yours; ranks are threads, which stop and go on together"},
	{"doctor", "report the devices, libraries and tools of this machine, the missing ones, and how to get them"},
	{"bench session", "measure the start of a session and of cells"},
	{"bench cell", "measure the waits of one user: the start, a cell, an edited kernel, calls from a cell; beside CuPy, PyTorch, ipyparallel and ipykernel, as far as python3 has them"},
	{"bench kernels", "measure kernels and collectives of the cpu device, beside the same loops of C++, compiled by g++ -O2 for two threads"},
	{"bench net", "measure puts and signals between kernels of two hosts, by default simulated hosts"},
	{"bench load", "measure how a tensor is saved, loaded, read into Go and filled; with --peers beside numpy, safetensors and PyTorch, as far as python3 has them"},
	{"bench [OP...] [--sizes BYTES,...] [--dtype TYPE] [--peers] [--json] [--svg FILE]",
		"measure operations (all if none is named) and their limits; with --peers also PyTorch, NCCL and NVSHMEM"},
	{"bench tensors", "measure calculations with tensors, beside a copy; --peers adds CuPy and PyTorch"},
	{"bench overlap", "measure a matrix product and an all-gather, each alone and both at the same time"},
	{"bench fsdp", "measure a training step with sharded weights: gathers and scatters beside the products, or in turns with them; --peers adds NCCL"},
	{"bench token_switch", "measure the dispatch and the combine of a mixture of experts, beside the limit of the links"},
	{"bench --report FILE", "print the figures in a file, which --json printed, as tables of Markdown"},
	{"completion bash|zsh|fish", "print the completion script of a shell: source <(symmrepl completion bash)"},
	{"man", "print the manual page: symmrepl man | man -l -"},
	{"version", "print the versions of the program, of Go, and of the compilers: the one that built the program, and the one for kernels on the cpu device"},
}

const example = `$ symmrepl -n 4
symm> t := symm.Empty(symm.F32, 4); t.Fill(symm.Rank()); h := symm.Rendezvous(t)
symm> h.GetBuffer((symm.Rank()+1)%4, symm.F32, 4).Float32s()[0]
[0] 1
[1] 2
[2] 3
[3] 0`

const output = `Output begins with the ranks that printed it: "[0-3] same on all", "[1,3] differs". :help at the prompt says more.`

// flagRow is a flag.
type flagRow struct {
	names    string // without dashes: "n ranks"
	holds    any    // a pointer to the option, or a func(string) error that sets it
	value    string // name of the value: "N"; "" if the flag takes none
	takes    value  // words that the value can be
	optional bool   // the value may be left out, and stands behind "="
	session  bool   // the flag chooses the size, hosts, network or device of a session
	of       string // the only commands that it applies to: "run, -e and the prompt"; "" stands for all
	with     string // another flag, without which it does not apply
	text     string
}

// value holds the completions of a flag's value in a shell.
type value struct {
	words   func() []string
	files   bool
	folders bool
}

// oneOf is a value that is one of some words.
func oneOf(words ...string) value { return value{words: func() []string { return words }} }

// flags returns all flags, which set o.
func (o *options) flags() []flagRow {
	return []flagRow{
		{names: "n ranks", holds: o.setRanks, session: true, value: "N",
			text: "ranks to start, 1 to 1024 and at most 72 on a host; by default one for each GPU, or 4 without GPUs. More ranks than GPUs share them. check takes several numbers, 2,4"},
		{names: "device", holds: &o.device, session: true, value: "KIND", takes: value{words: deviceNames},
			text: "cpu, cuda, or auto: cuda if there is a GPU. By default auto"},
		{names: "backend", holds: &o.backend, session: true, value: "NAME", takes: value{words: backendNames},
			text: "the back end that makes symmetric memory: CUDA, NCCL or NVSHMEM on GPUs, CPU on the cpu device; by default the one in TORCH_SYMMMEM on GPUs, or else CUDA"},
		{names: "hosts", holds: &o.hosts, session: true, value: "LIST",
			text: "simulated hosts: their number, 2, or the ranks of each, 0-3/4-7. Only ranks of one host share memory"},
		{names: "net", holds: &o.network, session: true, value: "NAME", takes: oneOf("ucx", "null", "none"),
			text: "the network between hosts: ucx, which is the default; null, for tests and lessons; or none"},
		{names: "nproc-per-node nproc_per_node", holds: o.setRanks, value: "N", of: "torchrun", text: "the same as -n"},
		{names: "nnodes", holds: o.setNodes, value: "1", of: "torchrun", text: "hosts, as torchrun has it: one"},
		{names: "standalone", holds: &o.standalone, of: "torchrun", text: "as torchrun has it, which is always so here"},
		{names: "module", holds: &o.module, of: "torchrun", text: "the program is a module, as for python -m; torchrun takes -m, too"},
		{names: "e eval", holds: o.setCode, value: "CODE", text: "run CODE as one cell, which may begin with commands, and exit"},
		{names: "timeout", holds: o.setTimeout, value: "TIME",
			of: "run, trace, torchrun, check and -e", text: "after this time, such as 90s or 5m, show what every rank does, and end with status 1; check ends the case, by default after 60s"},
		{names: "deadlock", holds: o.setDeadlock, value: "end|wait", takes: oneOf("end", "wait"),
			of: "run, torchrun, -e and the prompt", text: "a wait that cannot end, because all ranks that could end it are done or wait too, ends with an error, which is the default, or goes on"},
		{names: "sanitize", holds: &o.sanitize, of: "run, torchrun, -e and the prompt", text: "watch every access of kernels on the cpu device, and report those out of bounds, races, and orders that are too weak on GPUs; on GPUs report those out of the bounds of tensors and pads; the exit status is 1 if there are findings"},
		{names: "schedules", holds: &o.schedules, value: "N",
			of: "run, torchrun, check, -e and the prompt", with: "sanitize", text: "run the script, program or CODE N times, each time in another order of threads, blocks and ranks"},
		{names: "seed", holds: &o.seed, value: "S",
			of: "run, torchrun, check, -e and the prompt", with: "sanitize", text: "the first order, by default 0; a report names the seed of the order that shows it"},
		{names: "sizes", holds: o.setSizes, value: "BYTES,...", of: "bench", text: "message sizes to measure, such as 4K,1M"},
		{names: "dtype", holds: &o.dtype, value: "TYPE", takes: oneOf("f16", "bf16", "f32", "f64", "i32", "i64"),
			of: "bench", text: "f16, bf16, f32, f64, i32 or i64; by default bf16"},
		{names: "peers", holds: &o.peers, of: "bench", text: "measure PyTorch, NCCL and NVSHMEM in the same run, if python3 has torch"},
		{names: "json", holds: &o.json, of: "bench and check", text: "bench and check: print a line of JSON for each figure or result instead of text; run, torchrun and -e with --sanitize: print the findings as JSON, and everything else to standard error"},
		{names: "svg", holds: &o.svg, value: "FILE", takes: value{files: true},
			of: "bench", text: "draw microseconds and bandwidth over size, with the peers and the link's limit"},
		{names: "report", holds: &o.report, value: "FILE", takes: value{files: true},
			of: "bench", text: "write the figures of a file as tables, and measure nothing"},
		{names: "junit", holds: &o.junit, value: "FILE", takes: value{files: true}, of: "check", text: "write the results as JUnit's XML"},
		{names: "sarif", holds: &o.sarif, value: "FILE", takes: value{files: true}, of: "check", text: "write what is wrong as SARIF, for the diffs of pull requests"},
		{names: "only", holds: &o.only, value: "NAME", of: "check", text: "run only the cases whose names contain this text"},
		{names: "j", holds: &o.sessions, value: "N", of: "check", text: "the most sessions at a time; by default 2"},
		{names: "I", holds: o.addFolder, value: "FOLDER", takes: value{folders: true}, of: "check", text: "search FOLDER for headers; may be given several times"},
		{names: "D", holds: o.addDefine, value: "NAME[=VALUE]", of: "check", text: "define a macro for kernels; may be given several times"},
		{names: "p", holds: &o.build, value: "FOLDER", takes: value{folders: true}, of: "check", text: "take the folders of headers and the macros of each file from compile_commands.json in FOLDER"},
		{names: "v verbose", holds: &o.verbose, of: "check", text: "print a line for each case that passes, too"},
		{names: "out", holds: &o.traceFile, value: "FILE", takes: value{files: true},
			of: "trace", text: "the file to write, for ui.perfetto.dev and trace_processor"},
		{names: "o", holds: &o.out, value: "NAME", takes: value{files: true}, of: "export", text: "the file or folder to write"},
		{names: "list", holds: &o.list, of: "tutorial", text: "list the tutorials, as without a name"},
		{names: "cpp", holds: &o.cpp, of: "export", text: "a program of C++"},
		{names: "user", holds: &o.user, of: "kernel install", text: "install for this user, which is the default"},
		{names: "prefix", holds: &o.prefix, value: "DIR", takes: value{folders: true},
			of: "kernel install", text: "install below a folder, such as a Python environment's"},
		{names: "name", holds: &o.name, value: "NAME", of: "kernel install", text: "the kernel's name in Jupyter, by default symmrepl"},
		{names: "attach", holds: o.setAttach, value: "DIR", optional: true, takes: value{folders: true},
			of: "kernel and serve", text: "use a running session of yours; DIR chooses among several"},
		{names: "read-only", holds: &o.readOnly, of: "mcp", text: "clients can look, and run nothing"},
		{names: "socket", holds: &o.socket, value: "PATH", takes: value{files: true},
			of: "mcp and dap", text: "listen at a Unix socket, to which only your own processes can connect"},
		{names: "listen", holds: &o.listen, value: "HOST:PORT",
			of: "dap", text: "listen at a port that other machines cannot reach, for example 127.0.0.1:4711; the editor gives the token that is in SYMMREPL_TOKEN"},
		{names: "words", holds: &o.words, of: "completion", text: "print what may stand at the end of the command line behind --, for the scripts of the shells"},
		{names: "rdzv", holds: &o.rdzv, value: "HOST:PORT", text: "the address at which the processes of several hosts meet, if it is not their launcher's"},
		{names: "h help", holds: &o.help, text: "this text"},
		{names: "version", holds: &o.version, text: "the same as symmrepl version"},
	}
}

// spelled returns the flag as --help has it: "-n, --ranks N".
func (f flagRow) spelled() string {
	text := strings.Join(f.dashed(), ", ")
	switch {
	case f.optional:
		text += "[=" + f.value + "]"
	case f.value != "":
		text += " " + f.value
	}
	return text
}

// about returns the text of the flag in --help, which begins with the commands that it applies to.
func (f flagRow) about() string {
	switch {
	case f.with != "":
		return "with " + dashed(f.with) + ": " + f.text
	case f.of == "" || strings.HasPrefix(f.text, f.of+": "):
		return f.text
	}
	return f.of + " only: " + f.text
}

// dashed returns the names of the flag as they are typed.
func (f flagRow) dashed() (names []string) {
	for _, name := range strings.Fields(f.names) {
		names = append(names, dashed(name))
	}
	return names
}

// commands lists the only commands that the flag applies to, if there are any: subcommands with their
// arguments, "-e" and "the prompt".
func (f flagRow) commands() []string {
	return strings.Split(strings.ReplaceAll(f.of, " and ", ", "), ", ")
}

// add adds the flag to a set.
func (f flagRow) add(flags *flag.FlagSet) {
	for _, name := range strings.Fields(f.names) {
		switch at := f.holds.(type) {
		case *bool:
			flags.BoolVar(at, name, *at, "")
		case *int:
			flags.IntVar(at, name, *at, "")
		case *int64:
			flags.Int64Var(at, name, *at, "")
		case *string:
			flags.StringVar(at, name, *at, "")
		case func(string) error:
			if f.optional {
				flags.BoolFunc(name, "", at)
			} else {
				flags.Func(name, "", at)
			}
		}
	}
}

const launchers = `Under torchrun --no-python, mpirun or srun, symmrepl joins the ranks that they started: rank 0 owns the prompt or runs the script, the others serve it. Then -n may be left out. By hand, start each rank of a host in a terminal of its own with RANK, WORLD_SIZE and the same free MASTER_PORT, and with MASTER_ADDR=127.0.0.1 if that is set. Several hosts need the variables LOCAL_RANK and LOCAL_WORLD_SIZE too, and a secret that all of them share, in SYMMREPL_TOKEN.

Programs and cells of symmrepl run and -e read the standard input of symmrepl on rank 0; on other ranks standard input is at its end.`

const exitStatus = `0 if all went well; 1 if a cell failed or --sanitize has found something; 2 if the command line is wrong; 3 if the session could not start or the command could not be carried out; 128 + N if signal N ended the program; with symmrepl run and -e, if the program calls os.Exit, the highest status of all ranks.`

const environment = `SYMMREPL_CACHE is the folder of compiled kernels. SYMMREPL_CUDA names the library of the driver to use, SYMMREPL_NVRTC, SYMMREPL_NCCL, SYMMREPL_NVSHMEM and SYMMREPL_CUBLASLT name libraries or their folders, SYMMREPL_CXX the C++ compiler of the cpu device: g++, clang++ or zig; without them symmrepl searches. SYMMREPL_NCCL_WINDOWS=1 takes windows of NCCL 2.29.7 to 2.30.6, on which collectives may be silently wrong. SYMMREPL_DISABLE_MULTICAST=1, NCCL_NVLS_ENABLE=0 and TORCH_SYMM_MEM_DISABLE_MULTICAST=1 each leave NVLink multicast off. GOMEMLIMIT, for example 16GiB, limits the memory of each rank's Go values; the default is a third of the memory that is free when the session starts, divided among the ranks of the host. SYMMREPL_DEADLOCK=wait is --deadlock wait, also for notebooks and tutorials. SYMMREPL_HOSTS, for example 2, is --hosts, also for programs that call symmem.Start; SYMMREPL_NET is --net and may add settings of the null network, as in SYMMREPL_NET="null delay=200us reorder=on seed=7". SYMMREPL_UCX_LIB names the library of UCX. SYMMREPL_HEARTBEAT of rank 0, for example 30s, is the time for which another host may be silent before it is lost; the default is 10s, off stands for ever. NO_COLOR=1 leaves colours off.`
