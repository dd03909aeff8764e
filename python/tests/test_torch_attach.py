"""Tests of symmrepl attach to programs of PyTorch. .ci/torch runs them, as those of test_torch."""

import importlib.util
import unittest

from test_attach import Run

TORCH = """import torch, torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import symmrepl.torch
from symmrepl.torch import breakpoint
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
"""


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Attached(unittest.TestCase):
    def start(self, text, *flags, ranks=2):
        return Run(self, TORCH, text, *flags, ranks=ranks)

    def test_breakpoint(self):
        run = self.start("""
        t = symm_mem.empty(2, 4, dtype=torch.bfloat16, device="cpu").fill_(rank)
        row, turned, plain, far = t[1], t.t(), torch.ones(3), torch.ones(2, device="meta")
        h = symm_mem.rendezvous(t, dist.group.WORLD)
        peer = h.get_buffer(1 - rank, (8,), torch.bfloat16)
        breakpoint()
        print(t.float().sum().item())
        """)
        run.awaited("stands in")
        out = run.cells(
            't := symm.FromTorch("t"); t', 'symm.FromTorch("row").Fill(2)', 'symm.FromTorch("turned")', 'symm.FromTorch("plain")',
            'symm.FromTorch("far")', 'symm.FromTorch("peer")', 'symm.FromTorch("h")', ":vars", "t",
            'symm.FromTorch("t[0][1:]").Fill(3)', ":continue",
        )  # fmt: skip
        self.assertIn("[1] bf16[2, 4] on cpu, symmetric\n[1]   1 1 1 1\n[1]   1 1 1 1\n", out)
        for text in (
            "turned is a view that is not contiguous", "plain is not in symmetric memory of its rank", "far is on meta",
            "peer is memory of another rank", "h is a Handle, and no tensor",
        ):  # fmt: skip
            self.assertIn("FromTorch: " + text, out)
        self.assertRegex(out, r"\n +1 +t +bfloat16\[2, 4\] +16 B +\[1 1 1 1 2 2 2 2\]\n")
        self.assertRegex(out, r"\n +0,1 +turned +bfloat16\[4, 2\] +16 B +is a view that is not contiguous\n")
        self.assertEqual(run.ended(), 0, run.said)
        self.assertIn("[0] 17.0\n", run.said)  # 0 and thrice 3, four times 2
        self.assertIn("[1] 18.0\n", run.said)

    def test_program_that_hangs(self):
        """The missing signal is written into the pad, and the program goes on."""
        run = self.start(
            """
        def step(t):
            h = symm_mem.rendezvous(t, dist.group.WORLD)
            if rank == 0: h.wait_signal(1, channel=3)
            dist.barrier()
            print("over")
        step(symm_mem.empty(16, device="cpu").fill_(rank))
        """,
            "--deadlock", "wait",
        )  # fmt: skip
        run.awaited("waits in wait_signal")
        run.awaited("`symmrepl attach` gives a prompt beside it\n")
        out = run.cells(
            ":vars", 't := symm.FromTorch("t"); t.Float32s()[0]', ":continue", "h := symm.Rendezvous(t)",
            "if symm.Rank() == 0 { h.GetSignalPad(0).Slice(2*3+1, 2*3+2).Fill(1) }", "symm.Synchronize()",
        )  # fmt: skip
        self.assertIn("attached to prog.py, which does this:\n", out)
        self.assertIn("[0] 0\n[1] 1\n", out)
        self.assertIn("prog.py stands at no breakpoint:\n", out)
        run.awaited("[0,1] over\n")
        self.assertEqual(run.ended(), 0, run.said)


if __name__ == "__main__":
    unittest.main()
