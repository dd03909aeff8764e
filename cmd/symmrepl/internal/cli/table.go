package cli

// The texts of --help, of the manual page and of the shells' completions are made from the following
// tables. A subcommand also has a row in subcommands, and a flag a line in parse; tests compare them.

// form is a way to call the program.
type form struct {
	words string // what follows its name: "run FILE.go [ARG...]"
	text  string
}

const intro = `symmrepl drives N GPUs from one prompt: a cell of Go typed once runs on every rank in lockstep. Symmetric memory, one-sided puts, signals, collectives and your own CUDA kernels are one call away. Without a GPU the ranks run on an emulated device in host memory.`

var forms = []form{
	{"", "a prompt"},
	{"-e CODE", "run one cell"},
	{"run FILE.go [ARG...]", "run a script, whose cells lines that begin with // %% separate, or a program of package main, from standard input if FILE is -; flags among the arguments stand after --"},
	{"run FOLDER [ARG...]", "run the program of package main in a folder; several files may be given in its place"},
	{"trace FILE.go [--out FILE.pftrace] [ARG...]",
		"run a script and show one timeline of all ranks: when each kernel, copy and wait ran, the critical path, and the rank that the others waited for; with --out also write it for ui.perfetto.dev"},
	{"export FILE.go -o NAME [--cpp]", "write the cells of a script as a program, without running them: of Go as NAME.go or as the folder NAME with all that it needs, as NAME.py for PyTorch's symmetric memory, or with --cpp of C++ in the folder NAME"},
	{"tutorial [NAME | --list]", "list the tutorials, or step through one at a prompt"},
	{"lab [FOLDER]", "open JupyterLab on the notebooks of the tutorials, which are copied to FOLDER, by default symmrepl-notebooks; the Python package of symmrepl brings this"},
	{"attach [DIR]", "a second prompt on a running session of yours; it asks which if there are several and no DIR"},
	{"kernel install", "install a Jupyter kernel that starts a session with these flags"},
	{"kernel run FILE", "serve the front ends of a connection file; this is what Jupyter starts"},
	{"serve", "hold a session for another program, which sends requests on standard input; this is what the Python package symmrepl starts"},
	{"mcp [DIR] [--read-only] [--socket PATH]",
		"let programs and agents use a session by the Model Context Protocol, over standard input and output or a socket: a running session of yours, whose prompt shows what they run, or with -n one of their own"},
	{"dap [--socket PATH | --listen ADDRESS]",
		"let an editor debug by the Debug Adapter Protocol, over standard input and output, a socket, or a port of this machine: it launches a program, or attaches to a running session of yours; ranks are threads, which stop and go on together"},
	{"doctor", "what this machine has, what is missing, and how to get it"},
	{"bench session", "how fast this machine starts a session and runs cells; with --simulate N, what a session costs beside its ranks, up to N of them, which have no interpreter and no device"},
	{"bench cell", "what one user waits for: the start, a cell, an edited kernel, calls from a cell, beside CuPy, PyTorch, ipyparallel and ipykernel, as far as python3 has them"},
	{"bench kernels", "kernels and collectives of the cpu device beside the same loops of C++, compiled by g++ -O2 for two threads"},
	{"bench net", "how fast kernels of two hosts put and signal to each other, by default simulated ones"},
	{"bench load", "what it takes to save and load a tensor, to read it into Go and to fill it; with --peers beside numpy, safetensors and PyTorch, as far as python3 has them"},
	{"bench [OP...] [--sizes BYTES,...] [--dtype TYPE] [--peers] [--json] [--svg FILE]",
		"measure operations (all if none is named) and their limits; with --peers also PyTorch, NCCL and NVSHMEM"},
	{"bench tensors", "calculations with tensors beside a copy; --peers adds CuPy and PyTorch"},
	{"bench overlap", "a matrix product and an all-gather, each alone and both at the same time"},
	{"bench fsdp", "a step of training whose weights are sharded: gathers and scatters beside the products or in turns with them; --peers adds NCCL"},
	{"bench token_switch", "the dispatch and the combine of a mixture of experts, beside what the links allow"},
	{"bench --report FILE", "the figures that --json printed to a file, as tables of Markdown"},
	{"completion bash|zsh|fish", "print what completes symmrepl's command line in a shell: source <(symmrepl completion bash)"},
	{"man", "print the manual page: symmrepl man | man -l -"},
	{"version", "the versions of the program and of Go, and the compilers: the one that built it, and the one for kernels on the cpu device"},
}

const example = `$ symmrepl -n 4
symm> t := symm.Empty(symm.F32, 4); t.Fill(symm.Rank()); h := symm.Rendezvous(t)
symm> h.GetBuffer((symm.Rank()+1)%4, symm.F32, 4).Float32s()[0]
[0] 1
[1] 2
[2] 3
[3] 0`

const output = `Output begins with the ranks it comes from: "[0-3] same on all", "[1,3] differs". :help at the prompt says more.`

// flagRow is a flag.
type flagRow struct {
	names    []string // without dashes
	value    string   // what it takes: "N"; "" if nothing; in brackets if it may be left out
	takes    value    // which words that can be
	optional bool     // the value may be left out, and stands behind "="
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

var flagRows = []flagRow{
	{names: []string{"n", "ranks"}, value: "N",
		text: "ranks to start, 1 to 1024 and at most 72 on a host; by default one for each GPU, or 4 without GPUs. More ranks than GPUs share them"},
	{names: []string{"device"}, value: "KIND", takes: value{words: deviceNames},
		text: "cpu, cuda, or auto: cuda if there is a GPU. By default auto"},
	{names: []string{"backend"}, value: "NAME", takes: value{words: backendNames},
		text: "how symmetric memory is made: CUDA, NCCL or NVSHMEM on GPUs, CPU on the cpu device; by default what TORCH_SYMMMEM says on GPUs, or else CUDA there"},
	{names: []string{"hosts"}, value: "LIST",
		text: "simulated hosts, as a number, 2, or the ranks of each, 0-3/4-7: memory is shared inside a host only"},
	{names: []string{"net"}, value: "NAME", takes: oneOf("ucx", "null", "none"),
		text: "what carries traffic between hosts: ucx, which is the default; null, for tests and lessons; or none"},
	{names: []string{"e", "eval"}, value: "CODE", text: "run CODE as one cell, which may begin with commands, and exit"},
	{names: []string{"timeout"}, value: "TIME",
		text: "run, trace and -e only: after so long, such as 90s or 5m, say what every rank waits for or does, and end with status 1"},
	{names: []string{"deadlock"}, value: "end|wait", takes: oneOf("end", "wait"),
		text: "run, -e and the prompt only: a wait that cannot end, because all who could end it are done or wait too, ends as an error, which is the default, or goes on"},
	{names: []string{"sanitize"}, text: "run, -e and the prompt only: watch every access of kernels on the cpu device, and report those out of bounds, races, and orders that are too weak on GPUs; on GPUs report those out of the bounds of tensors and pads; the exit status is 1 if any is found"},
	{names: []string{"schedules"}, value: "N",
		text: "with --sanitize: run the script or CODE N times, each time in another order of threads, blocks and ranks"},
	{names: []string{"seed"}, value: "S",
		text: "with --sanitize: the first order, by default 0; a report names the seed of the order that shows it"},
	{names: []string{"sizes"}, value: "BYTES,...", text: "bench only: message sizes to measure, such as 4K,1M"},
	{names: []string{"dtype"}, value: "TYPE", takes: oneOf("f16", "bf16", "f32", "f64", "i32", "i64"),
		text: "bench only: f16, bf16, f32, f64, i32 or i64; by default bf16"},
	{names: []string{"simulate"}, value: "N", text: "bench session only: the most ranks to simulate"},
	{names: []string{"peers"}, text: "bench only: measure PyTorch, NCCL and NVSHMEM in the same run, if python3 has torch"},
	{names: []string{"json"}, text: "bench: print a line of JSON for each figure instead of tables; run and -e with --sanitize: print what was found as JSON, and everything else to standard error"},
	{names: []string{"svg"}, value: "FILE", takes: value{files: true},
		text: "bench only: draw microseconds and bandwidth over size, with the peers and the link's limit"},
	{names: []string{"report"}, value: "FILE", takes: value{files: true},
		text: "bench only: write the figures of a file as tables, and measure nothing"},
	{names: []string{"out"}, value: "FILE", takes: value{files: true},
		text: "trace only: the file to write, for ui.perfetto.dev and trace_processor"},
	{names: []string{"o"}, value: "NAME", takes: value{files: true}, text: "export only: the file or folder to write"},
	{names: []string{"list"}, text: "tutorial only: list the tutorials, as without a name"},
	{names: []string{"cpp"}, text: "export only: a program of C++"},
	{names: []string{"user"}, text: "kernel install only: install for this user, which is the default"},
	{names: []string{"prefix"}, value: "DIR", takes: value{folders: true},
		text: "kernel install only: install below a folder, such as a Python environment's"},
	{names: []string{"name"}, value: "NAME", text: "kernel install only: the name that Jupyter knows it by, by default symmrepl"},
	{names: []string{"attach"}, value: "DIR", optional: true, takes: value{folders: true},
		text: "kernel and serve only: use a running session of yours: that of DIR if there are several"},
	{names: []string{"read-only"}, text: "mcp only: clients can look, and run nothing"},
	{names: []string{"socket"}, value: "PATH", takes: value{files: true},
		text: "mcp and dap only: listen at a Unix socket, to which only your own processes can connect"},
	{names: []string{"listen"}, value: "HOST:PORT",
		text: "dap only: listen at a port that other machines cannot reach, 127.0.0.1:4711 for one; the editor gives the token of SYMMREPL_TOKEN"},
	{names: []string{"rdzv"}, value: "HOST:PORT", text: "where the processes of several hosts meet, if not at their launcher's address"},
	{names: []string{"h", "help"}, text: "this text"},
	{names: []string{"version"}, text: "the same as symmrepl version"},
}

// spelled returns the flag as --help has it: "-n, --ranks N".
func (f flagRow) spelled() string {
	text := ""
	for i, name := range f.names {
		if i > 0 {
			text += ", "
		}
		text += dashed(name)
	}
	switch {
	case f.optional:
		text += "[=" + f.value + "]"
	case f.value != "":
		text += " " + f.value
	}
	return text
}

const launchers = `Under torchrun --no-python, mpirun or srun, symmrepl joins the ranks these started: rank 0 owns the prompt or runs the script, the others serve it. Then -n may be left out. By hand, start each rank of a host in a terminal of its own with RANK, WORLD_SIZE and the same free MASTER_PORT, and with MASTER_ADDR=127.0.0.1 if that is set. Several hosts need the variables LOCAL_RANK and LOCAL_WORLD_SIZE too, and a secret that all of them share, in SYMMREPL_TOKEN.

What symmrepl run and -e run reads the standard input of symmrepl on rank 0; that of other ranks is at its end.`

const exitStatus = `0 if all went well; 1 if a cell failed or --sanitize has found something; 2 if the command line is wrong; 3 if the session could not start, or what was asked for could not be done; 128 + N if signal N ended the program; of symmrepl run and -e, if the program calls os.Exit, its status: the highest of all ranks.`

const environment = `SYMMREPL_CACHE is the folder of compiled kernels. SYMMREPL_CUDA names the library of the driver to use, SYMMREPL_NVRTC, SYMMREPL_NCCL, SYMMREPL_NVSHMEM and SYMMREPL_CUBLASLT name libraries or their folders, SYMMREPL_CXX the C++ compiler of the cpu device: g++, clang++ or zig; without them symmrepl searches. SYMMREPL_NCCL_WINDOWS=1 takes windows of NCCL 2.29.7 to 2.30.6, on which collectives may be silently wrong. SYMMREPL_DISABLE_MULTICAST=1, NCCL_NVLS_ENABLE=0 and TORCH_SYMM_MEM_DISABLE_MULTICAST=1 each leave NVLink multicast off. GOMEMLIMIT=16GiB, for one, is how much memory the Go values of each rank may take; without it, a third of what is free when the session starts, divided among the ranks of the host. SYMMREPL_DEADLOCK=wait is --deadlock wait, also for notebooks and tutorials. SYMMREPL_HOSTS=2, for one, is --hosts 2, also for programs that call symmem.Start; SYMMREPL_NET is --net and may add settings of the null network, as in SYMMREPL_NET="null delay=200us reorder=on seed=7". SYMMREPL_UCX_LIB names the library of UCX. SYMMREPL_HEARTBEAT=30s of rank 0 is how long another host may be silent before it is lost, by default 10s; off is for ever. NO_COLOR=1 leaves colours off.`
