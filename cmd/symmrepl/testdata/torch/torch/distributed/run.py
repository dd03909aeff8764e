"""torchrun --standalone --nproc_per_node N SCRIPT ARGUMENT..."""

import os
import subprocess
import sys

standalone, flag, n, *command = sys.argv[1:]
assert (standalone, flag) == ("--standalone", "--nproc_per_node")
ranks = [subprocess.Popen([sys.executable, *command], env={**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": n}) for r in range(int(n))]
sys.exit(max(p.wait() for p in ranks))
