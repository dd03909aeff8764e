package cli

const usage = `symmrepl drives N GPUs from one prompt: a cell of Go typed once runs on every rank in lockstep. Symmetric
memory, one-sided puts, signals, collectives and your own CUDA kernels are one call away. Without a GPU the ranks run
on an emulated device in host memory.

    symmrepl                    a prompt
    symmrepl -e CODE            run one cell
    symmrepl run FILE.go [ARG...]
                                run a script, whose cells lines that begin with // %% separate, or a program of package main,
                                from standard input if FILE is -; flags among the arguments stand after --
    symmrepl run FOLDER [ARG...]
                                run the program of package main in a folder; several files may be given in its place
    symmrepl export FILE.go -o NAME [--cpp]
                                write the cells of a script as a program, without running them: of Go as NAME.go or as the folder
                                NAME with all that it needs, as NAME.py for PyTorch's symmetric memory, or with --cpp of C++ in the folder NAME
    symmrepl tutorial [NAME]    list the tutorials, or step through one at a prompt
    symmrepl attach [DIR]       a second prompt on a running session of yours; it asks which if there are several and no DIR
    symmrepl kernel install     install a Jupyter kernel that starts a session with these flags
    symmrepl kernel run FILE    serve the front ends of a connection file; this is what Jupyter starts
    symmrepl doctor             what this machine has, what is missing, and how to get it
    symmrepl bench session      how fast this machine starts a session and runs cells; with --simulate N, what a session costs
                                beside its ranks, up to N of them, which have no interpreter and no device
    symmrepl bench net          how fast kernels of two hosts put and signal to each other, by default simulated ones
    symmrepl bench load         what it takes to save and load a tensor, to read it into Go and to fill it; with --peers beside
                                numpy, safetensors and PyTorch, as far as python3 has them
    symmrepl bench [OP...] [--sizes BYTES,...] [--dtype TYPE] [--peers] [--json] [--svg FILE]
                                measure operations (all if none is named) and their limits; with --peers also PyTorch,
                                NCCL and NVSHMEM
    symmrepl bench tensors      calculations with tensors beside a copy; --peers adds CuPy and PyTorch
    symmrepl bench overlap      a matrix product and an all-gather, each alone and both at the same time
    symmrepl bench token_switch the dispatch and the combine of a mixture of experts, beside what the links allow
    symmrepl version            the version of the program

For example, on a machine with four GPUs, or with none:

    $ symmrepl -n 4
    symm> t := symm.Empty(symm.F32, 4); t.Fill(symm.Rank()); h := symm.Rendezvous(t)
    symm> h.GetBuffer((symm.Rank()+1)%4, symm.F32, 4).Float32s()[0]
    [0] 1
    [1] 2
    [2] 3
    [3] 0

Output begins with the ranks it comes from: "[0-3] same on all", "[1,3] differs". :help at the prompt says more.

Flags, which may stand before or after the arguments:

    -n, --ranks N       ranks to start, 1 to 1024 and at most 72 on a host; by default one for each GPU, or 4 without
                        GPUs. More ranks than GPUs share them
    --device KIND       cpu, cuda, or auto: cuda if there is a GPU. By default auto
    --backend NAME      how symmetric memory is made: CUDA or NCCL on GPUs, CPU on the cpu device; by default what
                        TORCH_SYMMMEM says on GPUs, or else CUDA there
    --hosts LIST        simulated hosts, as a number, 2, or the ranks of each, 0-3/4-7: memory is shared inside a host only
    --net NAME          what carries traffic between hosts: ucx, which is the default; null, for tests and lessons; or none
    -e, --eval CODE     run CODE as one cell and exit
    --timeout TIME      run and -e only: after so long, such as 90s or 5m, say what every rank waits for or does, and end with
                        status 1
    --deadlock end|wait run, -e and the prompt only: a wait that cannot end, because all who could end it are done or wait
                        too, ends as an error, which is the default, or goes on
    --sanitize          run, -e and the prompt only: watch every access of kernels on the cpu device, and report those out of
                        bounds, races, and orders that are too weak on GPUs; on GPUs report those out of the bounds of tensors
                        and pads; the exit status is 1 if any is found
    --schedules N       with --sanitize: run the script or CODE N times, each time in another order of threads, blocks and ranks
    --seed S            with --sanitize: the first order, by default 0; a report names the seed of the order that shows it
    --sizes BYTES,...   bench only: message sizes to measure, such as 4K,1M
    --dtype TYPE        bench only: f16, bf16, f32, f64, i32 or i64; by default bf16
    --simulate N        bench session only: the most ranks to simulate
    --peers             bench only: measure PyTorch, NCCL and NVSHMEM in the same run, if python3 has torch
    --json              bench: print a line of JSON for each figure instead of tables; run and -e with --sanitize: print what
                        was found as JSON, and everything else to standard error
    --svg FILE          bench only: draw microseconds and bandwidth over size, with the peers and the link's limit
    -o NAME, --cpp      export only: the file or folder to write; a program of C++
    --user, --prefix DIR, --name NAME
                        kernel install only: install for this user, which is the default, or below a folder such as a
                        Python environment's; the name that Jupyter knows it by, by default symmrepl
    --attach[=DIR]      kernel only: use a running session of yours: that of DIR if there are several
    --rdzv HOST:PORT    where the processes of several hosts meet, if not at their launcher's address
    -h, --help          this text
    --version           the same as symmrepl version

Under torchrun --no-python, mpirun or srun, symmrepl joins the ranks these started: rank 0 owns the prompt or runs the
script, the others serve it. Then -n may be left out. By hand, start each rank of a host in a terminal of its own with
RANK, WORLD_SIZE and the same free MASTER_PORT, and with MASTER_ADDR=127.0.0.1 if that is set. Several hosts need the
variables LOCAL_RANK and LOCAL_WORLD_SIZE too, and a secret that all of them share, in SYMMREPL_TOKEN.

What symmrepl run and -e run reads the standard input of symmrepl on rank 0; that of other ranks is at its end.

Exit status: 0 if all went well; 1 if a cell failed or --sanitize has found something; 2 if the command line is wrong; 3 if the session could not
start, or what was asked for could not be done; 128 + N if signal N ended the program; of symmrepl run and -e, if the
program calls os.Exit, its status: the highest of all ranks.

Environment: SYMMREPL_CACHE is the folder of compiled kernels. SYMMREPL_CUDA names the library of the driver to use,
SYMMREPL_NVRTC, SYMMREPL_NCCL and SYMMREPL_CUBLASLT name libraries or their folders, SYMMREPL_CXX the C++ compiler of the cpu device;
without them symmrepl searches.
SYMMREPL_DISABLE_MULTICAST=1, NCCL_NVLS_ENABLE=0 and TORCH_SYMM_MEM_DISABLE_MULTICAST=1 each leave NVLink multicast off.
GOMEMLIMIT=16GiB, for one, is how much memory the Go values of each rank may take; without it, a third of what is free
when the session starts, divided among the ranks of the host.
SYMMREPL_DEADLOCK=wait is --deadlock wait, also for notebooks and tutorials.
SYMMREPL_HOSTS=2, for one, is --hosts 2, also for programs that call symmem.Start; SYMMREPL_NET is --net and may add settings
of the null network, as in SYMMREPL_NET="null delay=200us reorder=on seed=7". SYMMREPL_UCX_LIB names the library of UCX.
SYMMREPL_HEARTBEAT=30s of rank 0 is how long another host may be silent before it is lost, by default 10s; off is for ever.
NO_COLOR=1 leaves colours off.
`
