"""A notebook of gophernotes imports the client package and drives a session: python -m unittest gophernotes_test."""

import glob
import json
import os
import tempfile
import unittest
import zipfile

from jupyter_client.manager import start_new_kernel

FOLDER = os.environ["SYMMREPL_GOPHERNOTES"]  # made by .ci/gophernotes
SOURCE = os.path.join(os.path.dirname(__file__), "../../../../client")
MODULE, VERSION = "github.com/symmrepl/symmrepl/client", "v0.0.1"
PATIENCE = 120


def serve_module(folder):
    """Makes a folder that serves as a module proxy and contains the client package only."""
    versions = os.path.join(folder, MODULE, "@v")
    os.makedirs(versions)
    with open(os.path.join(versions, "list"), "w") as f:
        f.write(VERSION + "\n")
    with open(os.path.join(versions, VERSION + ".info"), "w") as f:
        json.dump({"Version": VERSION}, f)
    with open(os.path.join(SOURCE, "go.mod")) as go_mod, open(os.path.join(versions, VERSION + ".mod"), "w") as f:
        f.write(go_mod.read())
    with zipfile.ZipFile(os.path.join(versions, VERSION + ".zip"), "w") as archive:
        for name in os.listdir(SOURCE):
            if not name.endswith("_test.go"):
                archive.write(os.path.join(SOURCE, name), f"{MODULE}@{VERSION}/{name}")


class Gophernotes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        serve_module(os.path.join(folder.name, "proxy"))
        spec = os.path.join(os.environ["JUPYTER_DATA_DIR"], "kernels", "gophernotes")
        os.makedirs(spec)
        with open(os.path.join(spec, "kernel.json"), "w") as f:
            json.dump({"argv": [os.path.join(FOLDER, "gophernotes"), "{connection_file}"], "display_name": "gophernotes", "language": "go", "env": {
                "PATH": os.path.join(FOLDER, "go", "bin") + ":" + os.environ["PATH"], "GOTOOLCHAIN": "local", "GOPATH": os.path.join(folder.name, "go"),
                "GOPROXY": "file://" + os.path.join(folder.name, "proxy"), "GOSUMDB": "off", "GOFLAGS": "-mod=mod -modcacherw",
            }}, f)
        self.start("symmrepl")  # the session of 2 ranks that the client finds
        self.kernel = self.start("gophernotes")

    def start(self, name):
        manager, client = start_new_kernel(kernel_name=name, startup_timeout=PATIENCE)
        self.addCleanup(manager.shutdown_kernel, now=name == "gophernotes")
        self.addCleanup(client.stop_channels)
        return client

    def cell(self, code):
        found = []
        reply = self.kernel.execute_interactive(code, timeout=PATIENCE, output_hook=lambda m: found.append(m["content"]))
        self.assertEqual(reply["content"]["status"], "ok", found)
        return "".join(c.get("text", "") or c.get("data", {}).get("text/plain", "") for c in found)

    def test_client(self):
        self.cell(f'import ("fmt"; "{MODULE}")')
        # not Attach(""), which takes the newest session of the user: others may be open
        (session,) = glob.glob(os.path.join(os.environ["XDG_RUNTIME_DIR"], "symmrepl-*", "s*", "attach"))
        self.cell(f"s, err := client.Attach({json.dumps(os.path.dirname(session))})")
        self.assertEqual(self.cell("s"), "session of 2 ranks")
        self.cell('r, err := s.Eval("x := symm.Rank() * 2; fmt.Println(`on both`); x")')
        self.assertEqual(self.cell("r"), "[0,1] on both\n[0] 0\n[1] 2")
        self.assertIn("[1] 2", self.cell("fmt.Print(r.String())"))
        self.cell('r, err = s.EvalOn([]int{1}, "x + 1")')
        self.assertEqual(self.cell("r"), "[1] 3")
        self.cell('r, err = s.Eval("nosuch")')
        self.assertEqual(self.cell("err.Error()"), "[0,1] cell[3]:1:1: undefined: nosuch")
        self.assertIn("session", self.cell("s.Close(); s"))


if __name__ == "__main__":
    unittest.main()
