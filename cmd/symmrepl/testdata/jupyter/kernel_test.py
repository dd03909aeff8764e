"""The kernel under the clients of Jupyter's own libraries: python -m unittest kernel_test."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from queue import Empty

import jupyter_kernel_test
import zmq
from jupyter_client.manager import KernelManager, start_new_kernel
from jupyter_client.session import Session

KERNEL = "symmrepl"
PATIENCE = 60  # seconds, for each message that has to come


def starved_for():
    """Returns the seconds for which threads of this process have waited for a processor."""
    waited = 0
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/schedstat") as f:
            waited += int(f.read().split()[1])
    return waited * 1e-9


@contextlib.contextmanager
def held(process):
    """Keeps a process stopped, though an interrupt lets it go on."""
    done = threading.Event()

    def hold():
        while not done.wait(0.0001):
            try:
                os.kill(process, signal.SIGSTOP)
            except ProcessLookupError:
                return

    stop(process)
    holder = threading.Thread(target=hold)
    holder.start()
    try:
        yield
    finally:
        done.set()
        holder.join()


def stop(process):
    """Stops a process and returns when its threads have stopped: on a busy machine they go on for a while."""
    os.kill(process, signal.SIGSTOP)
    for thread in os.listdir(f"/proc/{process}/task"):
        while True:
            with open(f"/proc/{process}/task/{thread}/stat") as f:
                if f.read().rpartition(")")[2].split()[0] == "T":
                    break
            time.sleep(0.001)


class Conformance(jupyter_kernel_test.KernelTests):
    kernel_name = KERNEL
    language_name = "go"
    file_extension = ".go"
    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'import "os"; fmt.Fprintln(os.Stderr, "oops")'
    completion_samples = [
        {"text": "strings.Repl", "matches": {"Replace", "ReplaceAll", "Replacer"}},
        {"text": 'é := "é"; math.MaxInt6', "matches": {"MaxInt64"}},
        {"text": "%histo", "matches": {"history"}},
    ]
    complete_code_samples = ["1 + 1", "x := 1\nx", "func f() {}", ":ranks", "$ ls", "1, 2"]
    incomplete_code_samples = ["func f() {", "fmt.Println(", "x :=", "%%rank [0]", "`"]
    invalid_code_samples = ["x := )", "}", "for }"]
    code_page_something = "strings.Builder?"
    code_generate_error = 'panic("as it should")'
    code_execute_result = [
        {"code": "1 + 2", "result": "[0,1] 3"},
        {"code": "symm.Rank()", "result": "[0] 0\n[1] 1"},
        {"code": '"a" + "b"', "result": '[0,1] "ab"'},
    ]
    code_history_pattern = "1?+*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "strings.Builder"
    code_display_data = [{"code": 'display.Display(display.HTML("<b>bold</b>"))', "mime": "text/html"}]
    code_clear_output = "display.Clear(false)"


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


class Kernel(unittest.TestCase):
    """Requests that jupyter_kernel_test does not make."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.km, cls.kc = start_new_kernel(kernel_name=KERNEL)

    @classmethod
    def tearDownClass(cls):
        cls.kc.stop_channels()
        cls.km.shutdown_kernel()

    def reply(self, msg_id, kc=None):
        while True:
            m = (kc or self.kc).get_shell_msg(timeout=PATIENCE)
            if m["parent_header"].get("msg_id") == msg_id:
                return m["content"]

    def messages(self, msg_id, kc=None):
        """Returns the messages published for a request until it is done, without the status messages."""
        found = []
        while True:
            m = (kc or self.kc).get_iopub_msg(timeout=PATIENCE)
            if m["parent_header"].get("msg_id") != msg_id:
                continue
            if m["msg_type"] == "status":
                if m["content"]["execution_state"] == "idle":
                    return found
            else:
                found.append((m["msg_type"], m["content"]))

    def outputs(self, msg_id, kc=None):
        """Returns the published outputs as front ends show them: consecutive text of one stream is joined."""
        found = []
        for kind, content in self.messages(msg_id, kc):
            if kind == "stream" and found and found[-1][0] == kind and found[-1][1]["name"] == content["name"]:
                content = {**content, "text": found.pop()[1]["text"] + content["text"]}
            found.append((kind, content))
        return found

    def run_cell(self, code, kc=None, **options):
        msg_id = (kc or self.kc).execute(code, **options)
        return self.reply(msg_id, kc), self.outputs(msg_id, kc)

    def text(self, code):
        reply, outputs = self.run_cell(code)
        self.assertEqual(reply["status"], "ok", reply)
        return self.joined(outputs)

    @staticmethod
    def joined(outputs):
        """The text of outputs, in which the last content of a display stands for all of them."""
        texts = {}
        for i, (kind, content) in enumerate(outputs):
            if kind == "stream":
                texts[i] = content["text"]
            elif kind in ("display_data", "update_display_data", "execute_result"):
                texts[content.get("transient", {}).get("display_id", i)] = content["data"]["text/plain"]
        return "".join(texts.values())

    def begun(self, code):
        """Runs a cell that prints, and returns its message ID after the cell has printed."""
        msg_id = self.kc.execute(code)
        while True:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["msg_type"] == "stream" and m["parent_header"].get("msg_id") == msg_id:
                return msg_id

    def test_traceback(self):
        reply, outputs = self.run_cell("xs := []int{1}\n\nfmt.Println(xs[symm.Rank()])")
        at = f"In[{reply['execution_count']}]:3:"
        self.assertEqual(reply["ename"], "panic")
        self.assertTrue(reply["evalue"].startswith("[1] " + at), reply["evalue"])
        error = [c for t, c in outputs if t == "error"]
        self.assertEqual(len(error), 1)
        self.assertEqual(error[0]["traceback"], reply["traceback"])
        self.assertEqual(len(reply["traceback"]), 1)
        self.assertIn("fmt", reply["traceback"][0].splitlines()[1])
        self.run_cell("func half(n int) int {\n\treturn n / (symm.Rank() - 1)\n}")
        called, _ = self.run_cell("n := 4\nhalf(n)")
        at = f"In[{reply['execution_count'] + 1}]:2:", f"In[{called['execution_count']}]:2:1"
        self.assertTrue(called["evalue"].startswith("[1] " + at[0]), called["evalue"])
        self.assertIn("while the cell was at " + at[1], called["traceback"][-1])

    def test_positions_of_magics(self):
        """Positions in the first line of a %%cuda cell, and of the launch that it makes, are those of the line as it was typed."""
        kernel = 'extern "C" __global__ void magical(float* x, long n) {\n  x[n] = 1;\n}\n\n// the last line'

        def failed(arguments):
            reply, _ = self.run_cell(f"%%cuda -g 1 -b 1 {arguments}\n{kernel}")
            return re.sub(r"In\[\d+\]", "In", reply["evalue"]), re.sub("\x1b\\[[01]m", "", reply["traceback"][0]).splitlines()[1:]

        for arguments, message, below in (
                ("nowhere, 3", "In:1:18: undefined: nowhere", ["    %%cuda -g 1 -b 1 nowhere, 3", " " * 21 + "^~~~~~~"]),
                ("[]float32{1}[", "In:1:1: ", ["    %%cuda -g 1 -b 1 []float32{1}["]),
                ("symm.Local(symm.F32, 3)", "In:1:1: magical: ", ["    %%cuda -g 1 -b 1 symm.Local(symm.F32, 3)"])):
            with self.subTest(arguments=arguments):
                said, lines = failed(arguments)
                self.assertTrue(said.startswith("[0,1] " + message), said)
                self.assertEqual(lines[:len(below)], below)
                self.assertNotIn("Launch", str(lines) + said)
        if "on cpu" in self.text("symm.Local(symm.F32, 1)"):
            said, lines = failed("symm.Local(symm.F32, 3) 1<<40")
            self.assertRegex(said, r"^\[0,1\] In:3: kernel magical, .*, launched at In:1$")
            self.assertEqual(lines[0], "    x[n] = 1;")

    def test_threads_fold(self):
        """Errors that differ only in blocks and threads are shown as one, without tabs."""
        if "on cpu" not in self.text("symm.Local(symm.F32, 1)"):
            self.skipTest("a GPU names no thread that is interrupted")
        self.run_cell('spin := symm.Compile(`extern "C" __global__ void spin(volatile int* x) { while (x[0] == 0) {} }`)\nword := symm.Local(symm.I32, 1)')
        msg_id = self.kc.execute("spin.Launch(symm.Grid(4), symm.Block(64), word)\nsymm.Synchronize()")
        table = ""  # of what the ranks do, which shows that both are in the kernel
        while not re.search(r"rank 0,1 .*busy in kernel spin", table):
            table = self.kc.get_iopub_msg(timeout=PATIENCE)["content"].get("data", {}).get("text/plain", "")
        self.km.interrupt_kernel()
        reply, outputs = self.reply(msg_id), self.outputs(msg_id)
        self.assertRegex(reply["evalue"], r"^\[0,1\] In\[\d+\]:1: kernel spin, block \[.*\], thread \[.*\]: interrupted, launched at In\[\d+\]:1$")
        self.assertFalse([c for t, c in outputs if t == "display_data" and "text/html" in c["data"]])

    def test_replay(self):
        """A replay does not say that variables are lost, and :restart of a rank names the entry after which it was."""
        self.run_cell("%restart")  # so that the cells of other tests do not run again
        self.run_cell("kept := 7")
        number = self.run_cell("kept")[0]["execution_count"]
        said = self.text("%restart 1")
        self.assertIn("rank 1 was restarted: a fresh worker took over, variables are lost there (`:restart replay` runs the cells again)", said)
        self.assertIn(f"rank 1 was restarted after In[{number}], which lost kept there", self.run_cell("kept")[0]["traceback"][0])
        said = self.text("%restart replay")
        self.assertIn("rank 0,1 was restarted: a fresh worker took over", said)
        self.assertNotIn("lost there", said)
        self.assertEqual(self.text("kept"), "[0,1] 7")

    def test_calls_by_rank(self):
        """%why is a tab for each group of ranks that made the same calls; ranks that all made the same have no tabs."""
        self.run_cell('calls := symm.Empty(symm.F32, 8)\nsymm.Rendezvous(calls)\nsymm.AllReduce(calls, "sum")\nsymm.OneShotAllReduce(calls, "sum");')
        _, outputs = self.run_cell("%why")
        self.assertEqual([sorted(c["data"]) for t, c in outputs if t == "execute_result"], [["text/plain"]])
        self.run_cell('if symm.Rank() == 0 { calls.Fill(1); calls.Fill(2) } else { calls.Arange() }')
        _, outputs = self.run_cell("%why")
        page, = (c["data"]["text/html"] for t, c in outputs if t == "execute_result")
        self.assertEqual(re.findall(r"<summary>([^<]*)</summary>", page), ["rank 0", "rank 1", "differences"])

    def test_commands_in_cells(self):
        self.assertEqual(self.text("$ echo one\n%on\n\nx := 40\nx + 2"), "one\ncells run on all ranks\n[0,1] 42")
        self.assertEqual(self.text("%%rank [1]\nsymm.Rank()"), "[1] 1")
        reply, _ = self.run_cell("%on\n\nnosuch()")
        self.assertIn("]:3:1: ", reply["evalue"])

    def test_commands_between_lines(self):
        """A command may be any line outside of brackets, comments and raw strings; positions count the lines of the cell."""
        said = self.text("between := 40\n%time between++\n$ echo \"it's one\"\nbetween + 1")
        self.assertRegex(said, r"^elapsed [^\n]*\nit's one\n\[0,1\] 42$")
        self.assertEqual(self.text("%time for i := range 2 {\n\tfmt.Println(i)\n}\n%time 1 + 1\n7").count("elapsed"), 2)
        self.assertEqual(self.text("s := `\n%ranks\n:vars\n`\n/*\n%ranks\n*/\nlen(s)"), "[0,1] 14")
        for code, said in (("x := 1\n$ echo one\n  y := x + nosuch", "In:3:12: undefined: nosuch"), ("func f() {\n%ranks\n}", "outside of brackets"),
                           ("x := 1\n%nosuch\nfmt.Println(2)", 'no command is called "nosuch"'), ("1\n%%time\n2", "the first of a cell"), ("1\n% 2", "In:2:1: ")):
            reply, outputs = self.run_cell(code)
            self.assertIn(said, re.sub(r"In\[\d+\]", "In", reply.get("evalue", "")), code)
            self.assertNotIn("2\n", [c.get("text") for _, c in outputs])
        _, outputs = self.run_cell("symm.Rank()\n$ echo between\nsymm.Rank() + 1")  # each piece of Go has its result
        self.assertEqual([c["data"]["text/plain"] for t, c in outputs if t == "execute_result"], ["[0] 0\n[1] 1", "[0] 1\n[1] 2"])

    def test_help_of_commands(self):
        self.assertEqual(self.reply(self.kc.inspect("$ ls\n%ranks", 8))["data"]["text/plain"].split("  ")[0], ":ranks")
        page, = self.run_cell(":ranks?")[0]["payload"]
        self.assertEqual(page["data"]["text/plain"].split("  ")[0], ":ranks")

    def test_cd(self):
        self.assertEqual(self.text("%cd /\n$ pwd\nimport \"os\"\nfolder, _ := os.Getwd()\nfolder"), '/\n[0,1] "/"')
        self.assertEqual(self.text("%cd usr\n$ pwd"), "/usr\n")
        reply, _ = self.run_cell("%cd nowhere\npanic(1)")
        self.assertEqual(reply["evalue"], ":cd: stat /usr/nowhere: no such file or directory")
        self.assertIn("go111module does nothing here", self.text("%go111module on"))
        self.text("%cd " + os.getcwd())

    def test_silent(self):
        count = self.run_cell("1")[0]["execution_count"]
        reply, outputs = self.run_cell('fmt.Println("quiet"); 5', silent=True)
        self.assertEqual((reply["status"], reply["execution_count"], outputs), ("ok", count, []))
        reply, outputs = self.run_cell("6", store_history=False)
        self.assertEqual([c["data"]["text/plain"] for t, c in outputs if t == "execute_result"], ["[0,1] 6"])
        reply, _ = self.run_cell("7")
        self.assertEqual(reply["execution_count"], count + 1)

    def test_user_expressions(self):
        reply, _ = self.run_cell("a := symm.Rank() * 10", user_expressions={"a": "a", "b": "nosuch"})
        got = reply["user_expressions"]
        self.assertEqual(got["a"]["data"], {"text/plain": "[0] 0\n[1] 10"})
        self.assertEqual((got["b"]["status"], got["b"]["ename"]), ("error", "type"))

    def statuses(self, *cells, **options):
        """Queues cells while the first one waits for a line of input; returns the status of each."""
        ids = [self.kc.execute(c, **options) for c in cells]
        self.reply(self.kc.comm_info())  # requests are taken in order
        self.kc.get_stdin_msg(timeout=PATIENCE)
        self.kc.input("")
        return [self.reply(i)["status"] for i in ids]

    def test_stop_on_error(self):
        self.assertEqual(self.statuses('fmt.Scanln(); panic("stop")', "1", "2"), ["error", "aborted", "aborted"])
        self.assertEqual(self.statuses('fmt.Scanln(); panic("go on")', "1", stop_on_error=False), ["error", "ok"])
        for _ in range(100):  # what is entered as soon as the error is known is run
            self.assertEqual(self.reply(self.kc.execute("nosuch"))["status"], "error")
            self.assertEqual(self.reply(self.kc.execute("1"))["status"], "ok")

    def test_stop_on_error_of_cells_that_follow_at_once(self):
        """Run All sends cells a moment apart. A failing cell stops the following cells even if it fails before they are sent."""
        punctual = 0
        for _ in range(400):
            starved = starved_for()
            ids, sent, longest = [self.kc.execute("nosuch")], time.time(), 0
            for pause in (0.002, 0.02, 0.001):
                time.sleep(pause)
                ids.append(self.kc.execute("1"))
                sent, longest = time.time(), max(longest, time.time() - sent)
            starved = starved_for() - starved
            statuses = [self.reply(i)["status"] for i in ids]
            if longest < 0.03 and starved < 0.01:  # on a busy machine this process may itself be late, or its thread that sends
                self.assertEqual(statuses, ["error", "aborted", "aborted", "aborted"])
                punctual += 1
                if punctual == 10:
                    break
        self.assertEqual(punctual, 10)
        self.assertEqual(self.text("1 + 1"), "[0,1] 2")

    def test_answers_while_a_cell_runs(self):
        msg_id = self.begun('fmt.Println("on"); select {}')
        start = time.time()
        self.assertIn("Builder", self.reply(self.kc.complete("strings.Buil"))["matches"])
        self.assertTrue(self.reply(self.kc.inspect("strings.Repeat(", 15))["found"])
        self.assertEqual(self.reply(self.kc.is_complete("f("))["status"], "incomplete")
        self.assertGreater(len(self.reply(self.kc.history(n=5))["history"]), 0)
        self.assertLess(time.time() - start, 2)
        self.km.interrupt_kernel()
        self.assertEqual(self.reply(msg_id)["ename"], "interrupted")

    def test_interrupt(self):
        waits = "t := symm.Empty(symm.I32, 4); h := symm.Rendezvous(t)\n" 'fmt.Println("on"); h.WaitSignal(1-symm.Rank(), 0)'
        for code in ('fmt.Println("on"); select {}', 'fmt.Println("on"); for {}', waits, "$ echo on; sleep 60"):
            for how in ("message", "signal"):
                with self.subTest(code=code, how=how):
                    msg_id = self.begun(code)
                    start = time.time()
                    if how == "message":
                        self.km.interrupt_kernel()
                    else:
                        os.kill(self.km.provisioner.process.pid, signal.SIGINT)
                    reply = self.reply(msg_id)
                    self.assertEqual(reply["status"], "error")
                    self.assertIn("interrupted", reply["evalue"])
                    self.assertLess(time.time() - start, 2)
        self.assertEqual(self.text("1 + 1"), "[0,1] 2")

    def test_insist(self):
        """If an interrupt does not stop a worker, only a second one replaces it; before, the notebook says that variables will be lost."""
        self.run_cell("kept := 42")
        worker = int(self.text('%%rank [1]\nimport "os"; fmt.Println(os.Getpid())').splitlines()[-1].removeprefix("[1] "))
        msg_id = self.begun('if symm.Rank() == 1 { fmt.Println("on"); select {} }')
        with held(worker):
            said = ""
            self.km.interrupt_kernel()
            self.km.interrupt_kernel()  # too early to mean more than the first
            while "■ again" not in said:
                m = self.kc.get_iopub_msg(timeout=PATIENCE)
                if m["parent_header"].get("msg_id") == msg_id:
                    said += m["content"].get("text", "") + m["content"].get("data", {}).get("text/plain", "")
            self.assertIn("rank 1 has not stopped, does not answer", said)
            self.assertIn("■ again replaces it: its variables are lost", said)
            with self.assertRaises(Empty):  # nor does time replace it
                self.kc.get_shell_msg(timeout=2)
            self.km.interrupt_kernel()
            self.assertIn("was restarted", self.reply(msg_id)["evalue"])
        self.assertEqual(self.text("%%rank [0]\nkept"), "[0] 42")
        self.assertEqual(self.text("1 + 1"), "[0,1] 2")

    def test_hang(self):
        """The report of a hang says which rank waits for which, and names the cell by the number that the notebook shows."""
        for code in ("1", "2"):
            self.run_cell(code, silent=True)  # of the session, not of the notebook
        msg_id, number, said = self.kc.execute("h := symm.Rendezvous(symm.Empty(symm.I32, 4)); if symm.Rank() == 0 { time.Sleep(time.Hour) }; h.Barrier(0)"), 0, ""
        while not said:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["parent_header"].get("msg_id") == msg_id:
                number, said = m["content"].get("execution_count", number), m["content"].get("data", {}).get("text/plain", "")
        self.assertRegex(said, rf"^\[0,1\] In\[{number}\] has run for [0-9.]+ s and waits \(■ interrupts it\):\n")
        self.km.interrupt_kernel()
        self.assertIn(f"In[{number}]:1:", self.reply(msg_id)["evalue"])

    def test_hang_report_updates_in_place(self):
        """A cell has one report, which is updated when the waits change; remarks are not drawn as errors."""
        msg_id = self.kc.execute("""h := symm.Rendezvous(symm.Empty(symm.I32, 4))
if symm.Rank() == 0 { time.Sleep(3 * time.Second); h.PutSignal(1, 0); symm.Synchronize(); time.Sleep(time.Hour) }
sort.Ints(nil)
h.WaitSignal(0, 0)
symm.Synchronize()
h.WaitSignal(0, 1)
symm.Synchronize()""")
        shown, said = [], []
        while len(shown) < 2 or "signal" not in said[-1].splitlines()[-1]:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["parent_header"].get("msg_id") != msg_id:
                continue
            self.assertNotEqual(m["content"].get("name"), "stderr")
            if "transient" in m["content"] and m["content"]["transient"]:
                shown.append((m["msg_type"], m["content"]["transient"]["display_id"]))
                said.append(m["content"]["data"]["text/plain"])
        self.km.interrupt_kernel()
        self.reply(msg_id)
        self.outputs(msg_id)
        self.assertEqual([kind for kind, _ in shown], ["display_data"] + ["update_display_data"] * (len(shown) - 1))
        self.assertEqual(len({name for _, name in shown}), 1)
        self.assertNotIn("does not answer", "".join(said))
        self.assertIn(("display_data", {"data": {"text/plain": '[0,1] note: imported "sort"'}, "metadata": {}, "transient": {}}), self.run_cell("%restart\nsort.Ints(nil)")[1])

    def test_hang_report_gives_way_to_the_time(self):
        """When the cell ends well, a line with its time replaces the report of its waits."""
        msg_id = self.kc.execute("h := symm.Rendezvous(symm.Empty(symm.I32, 4)); if symm.Rank() == 0 { time.Sleep(3 * time.Second) }; h.Barrier(0); symm.Synchronize(); 7")
        number = self.reply(msg_id)["execution_count"]
        displays = [(kind, content) for kind, content in self.outputs(msg_id) if kind.endswith("display_data")]
        (first, report), (last, took) = displays[0], displays[-1]
        self.assertEqual((first, last), ("display_data", "update_display_data"))
        self.assertRegex(report["data"]["text/plain"], rf"^\[0,1\] In\[{number}\] has run for [0-9.]+ s and waits ")
        self.assertRegex(took["data"]["text/plain"], rf"^In\[{number}\] took [3-9]\.[0-9] s$")
        self.assertEqual(took["transient"], report["transient"])

    def test_hang_report_is_live(self):
        """The report of a hang has present times until the cell is interrupted, and then says so."""
        msg_id = self.kc.execute("h := symm.Rendezvous(symm.Empty(symm.I32, 4)); if symm.Rank() == 0 { time.Sleep(time.Hour) }; h.Barrier(0); symm.Synchronize()")
        said = []
        while len(said) < 5:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["parent_header"].get("msg_id") == msg_id and m["msg_type"].endswith("display_data"):
                said.append(float(re.search(r"has run for ([0-9.]+) s and waits", m["content"]["data"]["text/plain"])[1]))
        self.assertEqual(said, sorted(set(said)))
        self.km.interrupt_kernel()
        number = self.reply(msg_id)["execution_count"]
        displays = [(kind, content["data"]["text/plain"]) for kind, content in self.outputs(msg_id) if kind.endswith("display_data")]
        self.assertEqual(displays[-1][0], "update_display_data")
        self.assertRegex(displays[-1][1], rf"^\[0,1\] In\[{number}\] was interrupted after [0-9.]+ s, until when it waited:\n\[0,1\]   rank 0  waits in time.Sleep")

    def console(self, code):
        """Runs a cell as jupyter console and qtconsole do, which first ask whether it is complete."""
        self.reply(self.kc.is_complete(code))
        return self.run_cell(code)[1]

    def test_progress_in_consoles(self):
        """Text consoles ignore updates of displays: a bar is text that is overwritten there."""
        code = 'bar := display.NewProgress("steps", 2)\nbar.Add(1)\nbar.Add(1)\nfmt.Println("done")'
        bar = lambda full, done: f"[0,1] steps {'█' * full}{'░' * (30 - full)} {50 * done:3} %, {done}/2\x1b[K"
        text = "".join(c["text"] for t, c in self.console(code) if t == "stream")
        self.assertEqual(text, f"{bar(0, 0)}\r{bar(15, 1)}\r{bar(30, 2)}\n[0,1] done\n")
        kinds = [t for t, _ in self.run_cell(code)[1] if t.endswith("display_data")]
        self.assertEqual(kinds, ["display_data", "update_display_data", "update_display_data"])

    def test_no_updates_for_euporie(self):
        """euporie reads no more after an update of a display, and names itself in its messages; a text that would change is shown once."""
        user, self.kc.session.username = self.kc.session.username, "euporie-7"
        self.addCleanup(setattr, self.kc.session, "username", user)
        outputs = self.run_cell('bar := display.NewProgress("steps", 2)\nbar.Add(2)')[1] + self.run_cell("%top -d 0.1 -n 3")[1]
        self.assertEqual({t for t, _ in outputs if t.endswith("display_data")}, {"display_data"})
        msg_id = self.kc.execute("time.Sleep(time.Second)")  # %top would show its text twice more
        while (m := self.kc.get_iopub_msg(timeout=PATIENCE))["parent_header"].get("msg_id") != msg_id or m["content"].get("execution_state") != "idle":
            self.assertNotEqual(m["msg_type"], "update_display_data")

    def test_hang_in_consoles(self):
        """A text console gets the table once, and how to interrupt the cell there."""
        code = "h := symm.Rendezvous(symm.Empty(symm.I32, 4)); if symm.Rank() == 0 { time.Sleep(4 * time.Second) }; h.Barrier(0); symm.Synchronize()"
        displays = [(t, c["data"]["text/plain"]) for t, c in self.console(code) if t.endswith("display_data")]
        self.assertEqual({t for t, _ in displays}, {"display_data"}, displays)
        self.assertRegex(displays[0][1], r" s and waits \(Ctrl-C interrupts it\):\n")
        self.assertEqual(sum(" and waits " in text for _, text in displays), 1, displays)

    def explain(self, code, level=0):
        """Returns what Shift-Tab shows at the bar in a text."""
        at = code.index("|")
        return self.reply(self.kc.inspect(code.replace("|", ""), at, level))["data"]

    def test_variables_are_explained(self):
        """Shift-Tab of a variable shows its type and its value on each rank, and no list of methods; its text fills lines of any length."""
        self.run_cell("table := symm.Local(symm.F32, 2, 3).Fill(7)\nmine := symm.Rank() + 40\nshared := []int{1, 2}")
        data = self.explain("table|")
        self.assertRegex(data["text/plain"], r"^var table \*symm.Tensor\n\n    f32\[2[, ]+3\] .*\n.*7 +7 +7")
        self.assertNotIn("func (t *Tensor)", data["text/plain"])
        self.assertIn("<p>Tensor is a contiguous array in device memory, row-major.", data["text/html"])
        self.assertIn("func (t *Tensor) Fill(", self.explain("table|", 1)["text/plain"])
        self.assertEqual(self.explain("mine|")["text/plain"], "var mine int\n\n    [0] 40\n    [1] 41")
        self.assertEqual(self.explain("shared|")["text/plain"], "var shared []int\n\n    []int{1, 2}")

    def test_sources(self):
        """Detail level 1 shows the source of what cells define and of functions in kernels' headers."""
        half = "// half halves.\nfunc half(n int) int {\n\treturn n / 2\n}"
        self.run_cell(half + "\nadd := symm.Compile(`__global__ void add(int* x) {\n  x[0] += 1;\n}`)")
        indented = lambda text: "Source:\n\n    " + text.replace("\n", "\n    ")
        self.assertEqual(self.explain("half|(3)")["text/plain"], "func half(n int) int\n\nhalf halves.")
        self.assertEqual(self.explain("half|(3)", 1)["text/plain"], "func half(n int) int\n\nhalf halves.\n\n" + indented(half))
        self.assertTrue(self.explain("add|", 1)["text/plain"].endswith(indented("add := symm.Compile(`__global__ void add(int* x) {\n  x[0] += 1;\n}`)")))
        page, = self.run_cell("half??")[0]["payload"]
        self.assertTrue(page["data"]["text/plain"].endswith(indented(half)))
        put = self.explain("%%cuda\n__global__ void f(symm::Handle h) { symm::put_signal|(h, 1, 0); }", 1)["text/plain"]
        self.assertIn("Source:\n\n    __device__ __forceinline__ bool put_signal(const Handle& h, int dst, u32 channel) {\n", put)
        self.assertTrue(put.endswith("\n    }"))

    def test_kernels_text(self):
        """Inside of a kernel's text names and members complete and are explained, in a Go string and in %%cuda cells."""
        def complete(code):
            at = code.index("|")
            return self.reply(self.kc.complete(code.replace("|", ""), at))["matches"]

        for begin, end in (("%%cuda\n", ""), ("k := symm.Compile(`", "`)"), ("k := symm.Compile(`\n", "")):
            self.assertEqual(complete(f"{begin}__global__ void f(symm::Handle h) {{ h.bu| }}{end}"), ["buffer", "buffers"])
            self.assertEqual(complete(f"{begin}__global__ void f(symm::Handle h) {{ symm::put_s|{end}"), ["put_signal"])
            self.assertIn("template <class T> T* buffer(int p) const;", self.explain(f"{begin}__global__ void f(symm::Handle h) {{ h.buffer|<int>(0); }}{end}")["text/plain"])

    def test_help(self):
        """Help in a notebook speaks of its buttons, and in a console of its keys."""
        text = self.text(":help")
        for word in ("Shift-Tab", "■", "%%cuda"):
            self.assertIn(word, text)
        for word in ("Ctrl-C interrupts", "Ctrl-D", "Alt-Enter"):
            self.assertNotIn(word, text)
        self.assertIn("Ctrl-C interrupts", "".join(c["text"] for t, c in self.console(":help") if t == "stream"))

    def test_order_of_streams(self):
        """Standard output and standard error are shown in the order in which they were printed, by all ranks and by one."""
        self.run_cell('import ("bufio"; "os")')
        plain = 'fmt.Println("out", i)\nfmt.Fprintln(os.Stderr, "err", i)\nprintln("ln", i)'
        writer = 'w := bufio.NewWriter(os.Stdout)\nfmt.Fprintln(w, "w", i)\nw.Flush()\nprintln("ln", i)\nfmt.Fprintln(os.Stdout, "f", i)\nfmt.Fprintln(os.Stderr, "err", i)'
        for one, words in (plain, ("out", "err", "ln")), (writer, ("w", "ln", "f", "err")):
            for code, ranks in ((f"for i := range 40 {{\n{one}\n}}", "[0,1]"), (f"for i := range 40 {{ if symm.Rank() == 1 {{\n{one}\n}} }}", "[1]")):
                text = "".join(c["text"] for t, c in self.run_cell(code)[1] if t == "stream")
                self.assertEqual(text.splitlines(), [f"{ranks} {word} {i}" for i in range(40) for word in words])

    def test_bytes_that_are_no_text(self):
        """Bytes that are not UTF-8 arrive as in strings of Go, and escapes as they are."""
        self.assertEqual(self.text('fmt.Print("a\\xff\\xfeé\\x1b[31mred\\x1b[0m\\n")'), "[0,1] a\\xff\\xfeé\x1b[31mred\x1b[0m\n")

    def test_long_texts(self):
        """One line of 10 MB and 100,000 lines arrive in full; a long value and a long error say how much is left out."""
        self.assertEqual(self.text('fmt.Println(strings.Repeat("z", 10e6))'), "[0,1] " + "z" * 10_000_000 + "\n")
        text = self.text("for i := range 100000 { fmt.Println(i) }")
        for rank in "01":  # a rank that is far ahead is shown without the other
            self.assertEqual([n for ranks, n in re.findall(r"^\[([0-9,]+)\] (.*)$", text, re.M) if rank in ranks], [str(i) for i in range(100_000)])
        self.assertTrue(self.text('strings.Repeat("v", 10e6)').endswith('"… (10000000 bytes)'))
        reply, _ = self.run_cell('panic(strings.Repeat("p", 10e6))')
        self.assertRegex(reply["traceback"][0], r"p… \([0-9]+ bytes more are left out\)")

    def test_errors_of_ranks_fold(self):
        """Errors that differ only in ranks are shown as one."""
        reply, _ = self.run_cell("h := symm.Rendezvous(symm.Empty(symm.I32, 4)); h.WaitSignal(1-symm.Rank(), 0, symm.Timeout(100*time.Millisecond)); symm.Synchronize()")
        self.assertRegex(reply["evalue"], r"^\[0,1\] .*: wait_signal: rank 0,1 waited \d+ms for a signal of rank 1,0 on channel 0, which never came \(rank 1,0 must put it\)$")
        self.assertEqual(len(reply["traceback"][0].splitlines()), 4)
        self.assertNotRegex(reply["traceback"][0], "\x1b\\[(?!0m|1m)")  # no colour but that of the theme

    def test_findings(self):
        """The first time, a finding of the sanitizer is shown in full; later, in a line that names the first cell."""
        self.run_cell("racy := symm.Compile(`__global__ void racy(int* x) { x[threadIdx.x / 2] = threadIdx.x; }`)\nplaces := symm.Local(symm.I32, 64)")
        self.addCleanup(self.run_cell, "%sanitize off")
        reply, outputs = self.run_cell("%sanitize on")
        if reply["status"] == "error" or len(outputs) > 1:
            self.skipTest(f"races are not found here: {reply} {outputs}")

        def found(code):
            reply, outputs = self.run_cell(code)
            self.assertEqual(reply["status"], "ok", reply)
            return reply["execution_count"], [c["data"] for t, c in outputs if t == "display_data" and "text/html" in c["data"]]

        launch = "racy.Launch(symm.Grid(1), symm.Block(64), places)"
        number, (first,) = found("%sanitize on\n" + launch)
        self.assertTrue(first["text/plain"].startswith("[0,1] race in a block: in i32[64]\n"), first)
        self.assertTrue(first["text/html"].startswith('<div class="symm-finding"><b>[0,1] race in a block: in i32[64]</b>'), first)
        for rank in "01":  # the picture has what each rank did
            self.assertIn(f'border:2px solid #888888;border-radius:4px;padding:2px 8px">rank {rank}<div', first["text/html"])
        self.assertEqual(first["text/html"].count("x[threadIdx.x / 2] <mark>=</mark> threadIdx.x;"), 2, first)
        again = f"[0,1] again: race in a block, as in In[{number}], at In[{number - 2}]:1:51"
        for code in launch, "%sanitize off\n%sanitize 2 " + launch:
            self.assertEqual(found(code)[1], [{"text/plain": again, "text/html": again}])
        self.assertEqual(found("%sanitize list")[1], [first])
        self.assertEqual(self.text("%sanitize"), "the sanitizer is off; 1 finding\n")
        self.assertEqual(self.text("%sanitize places.Fill(0); 7"), "[0,1] 7nothing was found")

    def test_tables(self):
        """Tables of commands are HTML as well, and text for front ends without."""
        self.run_cell('wide, tall := strings.Repeat("w ", 60), symm.Local(symm.I32, 2, 2)')
        for command, texts in {"%vars": ["wide", "w w", "tall"], "%vars ta* none": ["tall"], "%ranks": ["memory", "idle"], "%diff tall": ["none"]}.items():
            _, (_, (kind, content)) = self.run_cell(command)
            self.assertEqual((kind, sorted(content["data"])), ("display_data", ["text/html", "text/plain"]))
            for text in texts:
                self.assertIn(text, content["data"]["text/plain"])
                self.assertIn(text, content["data"]["text/html"])
            self.assertIn('<table class="dataframe">', content["data"]["text/html"])
        reply, outputs = self.run_cell("%vars ta[")
        self.assertEqual(reply["status"], "error")
        self.assertIn("the pattern ta[: a [ needs a ]", str(outputs))

    def test_chosen_ranks_are_shown(self):
        note = ("display_data", {"data": {"text/plain": "this cell runs on rank 1 only, as %on has chosen; %on all goes back to all"}, "metadata": {}, "transient": {}})
        self.run_cell("%on 1")
        try:
            _, outputs = self.run_cell("symm.Rank()")
            self.assertEqual(outputs[1:2], [note])
            self.assertEqual(outputs[2][1]["data"]["text/plain"], "[1] 1")
            self.assertNotIn(note, self.run_cell("%ranks")[1])
        finally:
            self.assertNotIn(note, self.run_cell("%on all")[1])
        self.assertNotIn(note, self.run_cell("symm.Rank()")[1])

    def test_background_output(self):
        """Output that a cell prints after it has ended appears at once, below that cell."""
        msg_id = self.kc.execute('go func() { time.Sleep(time.Second); fmt.Println("later", symm.Rank()) }()')
        self.reply(msg_id)
        text = ""
        while text.count("\n") < 2:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["msg_type"] == "stream":
                self.assertEqual(m["parent_header"]["msg_id"], msg_id)
                text += m["content"]["text"]
        self.assertEqual(sorted(text.splitlines()), ["[0] later 0", "[1] later 1"])

    def test_semicolon_shows_no_value(self):
        reply, outputs = self.run_cell("quiet := 6\nquiet;")
        self.assertEqual((reply["status"], outputs[1:]), ("ok", []))
        self.assertEqual(self.text("fmt.Println(quiet); quiet"), "[0,1] 6\n[0,1] 6")
        reply, outputs = self.run_cell(":time quiet; // not shown")
        self.assertRegex("".join(c["text"] for t, c in outputs if t == "stream"), r"^elapsed [0-9.]+ (µs|ms|s)\n$")
        self.assertNotIn("execute_result", [t for t, c in outputs])

    def test_info(self):
        info = self.reply(self.kc.kernel_info())
        self.assertRegex(info["implementation_version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(info["language_info"]["version"], r"^1\.")

    def test_indent(self):
        for code, indent in (("func f() {", "    "), ("func f() {\n    if true {", "        "), ("f(1,", "    "), ("x := 1\n:time for {", "")):
            got = self.reply(self.kc.is_complete(code))
            if indent:
                self.assertEqual((got["status"], got["indent"]), ("incomplete", indent))

    def test_hints(self):
        """A line that other kernels accept, or that belongs at another place of a cell, gets a hint besides the error of Go."""
        for code, hint in (("!ls -l", "$ ls -l runs a command of the shell"), ("%%bash\nls", "lines that begin with $ run in the shell"), ("%%timeit\n1", "%%time -n 20 on the first line"),
                           ("{\n:time x\n}", "commands and $ lines stand outside of brackets"), ("f(2,\n%ranks)", "commands and $ lines stand outside of brackets"), ("z := 3\nz??", "a question such as z? is a cell of its own")):
            reply, _ = self.run_cell(code)
            self.assertEqual(reply["status"], "error")
            self.assertIn(hint, "\n".join(reply["traceback"]), code)

    def test_two_question_marks(self):
        for code in ("strings.Builder?", "strings.Builder??", "??strings.Builder"):
            page, = self.run_cell(code)[0]["payload"]
            self.assertIn("Builder", page["data"]["text/plain"])

    def test_proxy(self):
        """A proxy puts its clients' identities before their messages; the kernel's answers begin with the same identities."""
        proxy = self.kc.context.socket(zmq.DEALER)
        proxy.connect(f"tcp://{self.km.ip}:{self.km.shell_port}")
        session = Session(key=self.km.session.key)
        for hops in ([b"client 1"], [b"client 2", b"hop", b""]):
            message = session.msg("comm_info_request", {})
            proxy.send_multipart(session.serialize(message, ident=hops))
            self.assertTrue(proxy.poll(1000 * PATIENCE))
            got, frames = session.feed_identities(proxy.recv_multipart())
            self.assertEqual((got, session.deserialize(frames)["msg_type"]), (hops, "comm_info_reply"))
        proxy.close()

    def test_deadlock_of_all_ranks(self):
        """Every rank reports the deadlock, however late it arrives: neither a send after a failed wait nor the session releases a rank."""
        for first, then, op in (("WaitSignal(1-symm.Rank(), 0, limit)", "PutSignal(1-symm.Rank(), 0, limit)", "wait_signal"),
                                ("PutSignal(1-symm.Rank(), 0); h.PutSignal(1-symm.Rank(), 0, limit)", "WaitSignal(1-symm.Rank(), 0, limit)", "put_signal")):
            reply, _ = self.run_cell(f"""h := symm.Rendezvous(symm.Empty(symm.I32, 4))
limit := symm.Timeout(400 * time.Millisecond)
time.Sleep(time.Duration(symm.Rank()) * 300 * time.Millisecond)
h.{first}
h.{then}
symm.Synchronize()""")
            waited, unit = re.search(op + r": rank 0,1 waited ([\d.]+)(m?s) ", reply["traceback"][0]).groups()
            self.assertGreaterEqual(float(waited) * {"ms": 1, "s": 1000}[unit], 400)
            self.assertNotIn("gave up", reply["traceback"][0])

    def test_input(self):
        """The user types a line once, and all ranks read it."""
        msg_id = self.kc.execute('fmt.Print("name? "); var a, b string; fmt.Scanln(&a, &b); fmt.Print("more? "); fmt.Scanln(&a); fmt.Println(a, b, symm.Rank())')
        for line in ("Ada Lovelace", "Augusta"):
            asked = self.kc.get_stdin_msg(timeout=PATIENCE)
            self.assertEqual((asked["msg_type"], asked["parent_header"]["msg_id"]), ("input_request", msg_id))
            self.kc.input(line)
        text = "".join(c["text"] for t, c in self.outputs(msg_id) if t == "stream")
        self.assertEqual(text, "[0,1] name? \n[0,1] more? \n[0] Augusta Lovelace 0\n[1] Augusta Lovelace 1\n")
        self.assertEqual(self.reply(msg_id)["status"], "ok")

        msg_id = self.kc.execute('import ("bufio"; "os"); s := bufio.NewScanner(os.Stdin); s.Scan(); s.Text()')
        self.kc.get_stdin_msg(timeout=PATIENCE)
        self.kc.input("a line")
        self.assertEqual([c["data"]["text/plain"] for t, c in self.outputs(msg_id) if t == "execute_result"], ['[0,1] "a line"'])
        self.reply(msg_id)

        reply, outputs = self.run_cell("_, err := fmt.Scan(new(int)); err == io.EOF", allow_stdin=False)
        self.assertEqual(outputs[-1][1]["data"]["text/plain"], "[0,1] true")

        msg_id = self.kc.execute("fmt.Scanln(new(int))")
        self.kc.get_stdin_msg(timeout=PATIENCE)
        self.km.interrupt_kernel()
        self.assertIn("interrupted", self.reply(msg_id)["evalue"])
        self.assertEqual(self.text("1 + 1"), "[0,1] 2")

    def test_input_before_its_channel(self):
        """A front end connects its channels one by one; a cell may run before the channel of standard input is connected."""
        late = self.km.client()
        late.session = Session(key=self.km.session.key)
        late.start_channels(stdin=False)
        late.wait_for_ready(timeout=PATIENCE)  # what is published before it subscribes never comes
        late.allow_stdin = True
        msg_id = late.execute("var word string; fmt.Scanln(&word); word")
        while late.get_iopub_msg(timeout=PATIENCE)["msg_type"] != "execute_input":
            pass
        time.sleep(0.3)  # it asks
        late.stdin_channel.start()
        late.get_stdin_msg(timeout=PATIENCE)
        late.input("late")
        self.assertEqual(self.reply(msg_id, late)["status"], "ok")
        self.assertEqual(self.text("word"), '[0,1] "late"')
        late.stop_channels()

    def test_input_of_another_front_end(self):
        """A cell reads its line from the front end that has sent the cell."""
        other = self.km.client()
        other.session = Session(key=self.km.session.key)  # a name of its own
        other.start_channels()
        other.wait_for_ready(timeout=PATIENCE)
        msg_id = self.kc.execute("var line string; fmt.Scanln(&line); line")
        self.kc.get_stdin_msg(timeout=PATIENCE)
        other.input("theirs")
        self.assertEqual(self.reply(other.comm_info(), other)["comms"], {})
        with self.assertRaises(Empty):
            self.kc.get_shell_msg(timeout=0.3)
        self.kc.input("mine")
        self.assertEqual([c["data"]["text/plain"] for t, c in self.outputs(msg_id) if t == "execute_result"], ['[0,1] "mine"'])
        self.reply(msg_id)
        other.stop_channels()

    def test_death_of_a_worker(self):
        reply, _ = self.run_cell('import "os"; if symm.Rank() == 1 { os.Exit(7) }')
        self.assertEqual(reply["ename"], "died")
        self.assertIn("exited with status 7", reply["evalue"])
        self.assertEqual(self.text("symm.WorldSize() * 21"), "[0,1] 42")

    def test_death_of_an_idle_worker(self):
        """The death appears at once, below the last cell, and the next cell does not tell it again."""
        msg_id = self.kc.execute('import "os"; if symm.Rank() == 1 { fmt.Println(os.Getpid()) }')
        pid = None
        while pid is None:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["msg_type"] == "stream":
                pid = int(m["content"]["text"].split()[-1])
        self.reply(msg_id)
        os.kill(pid, signal.SIGKILL)
        while True:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["msg_type"] in ("stream", "display_data"):
                break
        self.assertEqual(m["parent_header"]["msg_id"], msg_id)
        self.assertIn("rank 1 was killed (SIGKILL) while no cell ran: a fresh worker takes over", str(m["content"]))
        _, outputs = self.run_cell("symm.WorldSize() * 21")
        self.assertNotIn("was killed", str(outputs))
        self.assertIn("[0,1] 42", str(outputs))

    def test_displays(self):
        reply, outputs = self.run_cell("""fmt.Print("before")
display.Display(display.Named("i", display.MIME(display.MIMEMap{"text/html": "<i>1</i>", "text/plain": "1"}, display.MIMEMap{"m": 1})))
display.Update("i", display.MIME(display.MIMEMap{"text/plain": "2"}, nil))
display.Clear(true)
display.Display(display.MIME(display.MIMEMap{"application/json": map[string]any{"rank": symm.Rank()}}, nil))
fmt.Println("after")""")
        self.assertEqual(reply["status"], "ok", reply)
        self.assertEqual(outputs[1:], [
            ("stream", {"name": "stdout", "text": "[0,1] before\n"}),
            ("display_data", {"data": {"text/html": "<i>1</i>", "text/plain": "1"}, "metadata": {"m": 1}, "transient": {"display_id": "i"}}),
            ("update_display_data", {"data": {"text/plain": "2"}, "metadata": {}, "transient": {"display_id": "i"}}),
            ("clear_output", {"wait": True}),
            ("stream", {"name": "stdout", "text": "[0]\n"}),
            ("display_data", {"data": {"application/json": {"rank": 0}, "text/plain": "map[rank:0]"}, "metadata": {}, "transient": {}}),
            ("stream", {"name": "stdout", "text": "[1]\n"}),
            ("display_data", {"data": {"application/json": {"rank": 1}, "text/plain": "map[rank:1]"}, "metadata": {}, "transient": {}}),
            ("stream", {"name": "stdout", "text": "[0,1] after\n"}),
        ])

    def test_tensor(self):
        """A tensor is a table with statistics, in the digits of its type; its text is that of the prompt."""
        _, outputs = self.run_cell("symm.Empty(symm.BF16, 2, 8).Arange()")
        (kind, result), = outputs[1:]
        self.assertEqual((kind, sorted(result["data"])), ("execute_result", ["text/html", "text/plain"]))
        self.assertIn("<b>bf16[2, 8]</b> on cpu, symmetric<br>min 0, max 15, mean 7.5, no NaN<", result["data"]["text/html"])
        self.assertEqual(result["data"]["text/html"].count('<img class="symm-heat" '), 1)
        self.assertEqual(result["data"]["text/plain"].splitlines(), ["[0,1] bf16[2, 8] on cpu, symmetric", "[0,1]   0 1  2  3  4  5  6  7", "[0,1]   8 9 10 11 12 13 14 15"])

    def test_ranks_side_by_side(self):
        """What ranks show differently is a row of tabs, with the differences; lines of charts are one chart."""
        def tabs(page):
            return re.findall(r"<summary(?: class=\"symm-failed\")?>([^<]*)</summary>", page)

        tensor = "symm.Local(symm.F32, 3).Fill(symm.Rank())"
        _, (_, (_, result)) = self.run_cell(tensor)
        self.assertEqual(result["data"]["text/plain"], "[0] f32[3] on cpu [0 0 0]\n[1] f32[3] on cpu [1 1 1]")
        self.assertEqual(tabs(result["data"]["text/html"]), ["rank 0", "rank 1", "differences"])
        self.assertIn("3 of the 3 elements shown differ", result["data"]["text/html"])
        names = re.findall(r'<details name="([^"]*)"', result["data"]["text/html"])
        self.assertEqual((len(names), len(set(names))), (3, 1))
        _, (_, (_, again)) = self.run_cell(tensor)
        self.assertNotEqual(re.findall(r'<details name="([^"]*)"', again["data"]["text/html"])[0], names[0])  # the tabs of each output open alone

        _, outputs = self.run_cell('chart.Lines([]int{1, 2, 3 * symm.Rank()})')
        result = outputs[-1][1]["data"]
        self.assertEqual(sorted(result), ["image/png", "image/svg+xml", "text/plain"])
        self.assertTrue(">rank 0<" in result["image/svg+xml"] and ">rank 1<" in result["image/svg+xml"])

        _, outputs = self.run_cell('display.Display(display.HTML(fmt.Sprintf("<b>%d</b>", symm.Rank())))\nfmt.Println("after")')
        _, (kind, shown), after = outputs
        self.assertEqual((kind, tabs(shown["data"]["text/html"])), ("display_data", ["rank 0", "rank 1"]))
        self.assertEqual(after, ("stream", {"name": "stdout", "text": "[0,1] after\n"}))

        reply, outputs = self.run_cell('if symm.Rank() == 1 {\n\tpanic("<b>one</b>")\n}\n5')
        _, (_, shown), (kind, error) = outputs
        self.assertEqual(tabs(shown["data"]["text/html"]), ["rank 0", "✗ rank 1"])
        self.assertIn("panic: &lt;b&gt;one&lt;/b&gt;</b>", shown["data"]["text/html"])
        self.assertRegex(shown["data"]["text/plain"], r"^\[0\] 5\n\[1\] In\[\d+\]:2:2: panic: <b>one</b>\n\[1\]     panic\(")
        self.assertRegex(error["traceback"][0], r"^\[1\] In\[\d+\]:2:2: panic: <b>one</b>$")  # the rest is in the tab
        self.assertRegex(reply["traceback"][0], r"panic: <b>one</b>\x1b\[0m\n    panic\(")  # for clients that show replies

        _, outputs = self.run_cell('for i := range 8 {\n\tfmt.Println(i, "<i>", symm.Rank())\n}')
        page = outputs[-1][1]["data"]
        self.assertEqual((sorted(page), tabs(page["text/html"])), (["text/html"], ["by rank", "rank 0", "rank 1", "differences"]))
        self.assertNotIn("<i>", page["text/html"])

    def test_displays_that_fail(self):
        for data, why in (('display.JSON(map[string]any{"f": func() {}})', "json: unsupported type: func()"),
                          ("display.PNG(make([]byte, 64<<20))", "it takes 85 MiB, and 36 are shown at most")):
            reply, outputs = self.run_cell(f"Display({data})")
            self.assertEqual(reply["status"], "ok", reply)
            self.assertEqual(outputs[1:], [("stream", {"name": "stderr", "text": f"[0,1] display: {why}\n"})])

    def test_metadata(self):
        """The forms of a result come with their metadata, such as the size of a picture."""
        msg_id = self.kc.execute('display.MIME(display.MIMEMap{"image/png": []byte{1}}, display.MIMEMap{"image/png": display.MIMEMap{"width": 8}})')
        (_, result), = self.outputs(msg_id)[1:]
        self.assertEqual((result["data"]["image/png"], result["metadata"]), ("AQ==", {"image/png": {"width": 8}}))
        self.reply(msg_id)

    def test_comms(self):
        self.assertEqual(self.reply(self.kc.comm_info())["comms"], {})
        message = self.kc.session.msg("comm_open", {"comm_id": "c1", "target_name": "nobody", "data": {}})
        self.kc.shell_channel.send(message)
        closed = [c for t, c in self.outputs(message["header"]["msg_id"]) if t == "comm_close"]
        self.assertEqual(closed, [{"comm_id": "c1", "data": {}}])
        for kind in ("comm_msg", "comm_close"):
            message = self.kc.session.msg(kind, {"comm_id": "c1", "data": {}})
            self.kc.shell_channel.send(message)
            self.assertEqual(self.outputs(message["header"]["msg_id"]), [])

    def test_unknown_requests(self):
        """An unknown request is answered at once with an error. An unknown message that is no request gets no answer."""
        for channel, get in ((self.kc.shell_channel, self.kc.get_shell_msg), (self.kc.control_channel, self.kc.get_control_msg)):
            for kind in ("nosuch_notice", "usage_request"):
                message = self.kc.session.msg(kind, {})
                channel.send(message)
            reply = get(timeout=PATIENCE)
            self.assertEqual((reply["msg_type"], reply["parent_header"]["msg_id"]), ("usage_reply", message["header"]["msg_id"]))
            self.assertEqual((reply["content"]["status"], reply["content"]["evalue"]), ("error", "usage_request is not served"))

    def test_signatures(self):
        message = self.kc.session.serialize(self.kc.session.msg("comm_info_request", {}))
        for _ in range(3):  # only the first counts
            self.kc.shell_channel.socket.send_multipart(message)
        forged = self.kc.session.serialize(self.kc.session.msg("comm_info_request", {}))
        forged[1] = b"0" * 64
        self.kc.shell_channel.socket.send_multipart(forged)
        last = self.kc.comm_info()
        got = []
        while not got or got[-1] != last:
            got.append(self.kc.get_shell_msg(timeout=PATIENCE)["parent_header"]["msg_id"])
        self.assertEqual(len(got), 2)

    def test_many_prints(self):
        self.run_cell("1")
        start = time.time()
        msg_id = self.kc.execute("for i := range 20000 { fmt.Println(i) }")
        parts = [(t, c) for t, c in self.messages(msg_id) if t == "stream" or t.endswith("display_data")]
        took = time.time() - start
        self.reply(msg_id)
        text = self.joined(parts)
        for rank in "01":  # a rank that is far ahead is shown without the other
            printed = [line for ranks, line in re.findall(r"^\[([0-9,]+)\] (.*)\n", text, re.M) if rank in ranks]
            self.assertEqual(printed, [str(i) for i in range(20000)])
        print(f"20000 prints: {took:.2f} s, {len(parts)} messages", file=sys.stderr)
        # The kernel sends a message every 20 ms, and one for every 16 KiB.
        self.assertLessEqual(len(parts), took / 0.02 + len(text) / (16 << 10) + 1)

    def test_long_text_is_folded(self):
        """Of 40,000 lines the first are a stream and the others a box, with the last below it; of 100 MB it says how much is left out."""
        outputs = self.run_cell("for i := range 40000 { fmt.Println(i) }\nsymm.Meet()\n7")[1]
        stream, *others = [(t, c) for t, c in outputs if t in ("stream", "display_data", "execute_result")]
        self.assertLessEqual(stream[1]["text"].count("\n"), 1000)
        self.assertEqual([t for t, _ in others], ["display_data", "execute_result"])
        page = [c for t, c in outputs if t.endswith("display_data")][-1]["data"]["text/html"]
        box, below = page.split("</details>")
        self.assertEqual(below.count("\n"), 9)
        self.assertIn(" 39999", below)
        self.assertIn(" 20000\n", box)
        text = self.text('line := strings.Repeat("x", 99)\nfor range 1000000 { fmt.Println(line) }\nfmt.Println("the end")')
        self.assertRegex(text, r"symmrepl: \d+\.\d MiB are left out here: a notebook shows 8 MiB of a long text; write more to a file\n")
        self.assertTrue(text.endswith("the end\n"))
        self.assertLess(len(text), 10 << 20)

    def test_characters(self):
        """Text without an end of line is split at any place between two characters."""
        for _ in range(12):
            text = self.text('for range 30000 { fmt.Print("漢é😀") }')
            parts = re.findall(r"\[([0-9,]+)\] ([^\[]*?)(?:\n|(?=\[)|$)", text)
            for rank in "01":  # a rank that is far ahead is shown without the other
                self.assertEqual("".join(t for ranks, t in parts if rank in ranks) == "漢é😀" * 30000, True, (rank, text[:100]))

    def test_much_output(self):
        """A front end that reads slowly receives the whole output."""
        msg_id = self.kc.execute('line := strings.Repeat("x", 1e6-1)\nfor range 100 { fmt.Println(line) }')
        time.sleep(1)
        got = {"0": 0, "1": 0}
        text = "".join(c["text"] for t, c in self.messages(msg_id) if t == "stream")
        for ranks, line in re.findall(r"^\[([0-9,]+)\] (x*)$", text, re.M):
            for rank in ranks.split(","):
                got[rank] += len(line)
        self.assertEqual(got, {"0": 99_999_900, "1": 99_999_900})
        self.assertEqual(self.reply(msg_id)["status"], "ok")

    def test_output_left_out(self):
        """A front end that stopped reading receives, when it reads again, a line that says how much it missed."""
        asleep = self.kc.context.socket(zmq.SUB)
        asleep.rcvhwm = 1
        asleep.subscribe(b"")
        asleep.connect(f"tcp://{self.km.ip}:{self.km.iopub_port}")
        asleep.poll(1000 * PATIENCE)  # its welcome
        msg_id = self.kc.execute('for range 16 { fmt.Println(strings.Repeat("x", 4<<20-1)) }')
        self.assertGreater(sum(len(c["text"]) for t, c in self.messages(msg_id) if t == "stream"), 64 << 20)
        self.reply(msg_id)
        said, size, m, reader = [], 0, {}, Session(key=self.km.session.key)
        while m.get("content", {}).get("execution_state") != "idle" or m["parent_header"]["msg_id"] != msg_id:
            self.assertTrue(asleep.poll(1000 * PATIENCE))
            _, frames = reader.feed_identities(asleep.recv_multipart())
            m = reader.deserialize(frames)
            if m["msg_type"] == "stream" and m["content"]["name"] == "stderr":
                said.append(m["content"]["text"])
            elif m["msg_type"] == "stream":
                size += len(m["content"]["text"])
        asleep.close()
        self.assertEqual(len(said), 1, said)
        missed = float(re.fullmatch(r"symmrepl: \d+ outputs, ([0-9.]+) MiB, are left out here, because this front end read nothing for some seconds\n", said[0])[1])
        self.assertAlmostEqual(size / (1 << 20) + missed, 64, delta=1)
        self.assertGreater(missed, 16)

    def test_large_values(self):
        """The forms of a value arrive in full; if they are too large together, text/plain names the ones left out."""
        for size, form, said in ((16, 16 << 20, ""), (49, None, "(text/html is left out: it takes 49 MiB, and all forms of a value may take 48)")):
            msg_id = self.kc.execute(f'display.HTML(strings.Repeat("x", {size}<<20))')
            data, = (c["data"] for t, c in self.outputs(msg_id) if t == "execute_result")
            self.reply(msg_id)
            self.assertEqual(data.get("text/html"), form and "x" * form)
            self.assertIn(said, data["text/plain"])

    def slowest(self, cells):
        """Runs cells that print a long text; returns the time of the slowest in seconds."""
        slowest = 0
        for _ in range(cells):
            start = time.time()
            text = self.text('fmt.Println(strings.Repeat("x", 4<<20))')
            slowest = max(slowest, time.time() - start)
            self.assertGreater(len(text), 4 << 20)
        return slowest

    def test_stopped_front_end(self):
        second = subprocess.Popen(
            [sys.executable, "-c", "import sys, time\nfrom jupyter_client import BlockingKernelClient\n"
             "kc = BlockingKernelClient(connection_file=sys.argv[1]); kc.load_connection_file(); kc.start_channels(); kc.wait_for_ready(timeout=60)\n"
             "print('ready', flush=True)\ntime.sleep(600)", self.km.connection_file],
            stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(second.stdout.readline(), "ready\n")
            before = self.slowest(3)
            second.send_signal(signal.SIGSTOP)
            self.assertLess(self.slowest(8), max(5, 3 * before))  # all eight are more than goes on its way to the second
        finally:
            second.kill()
            second.wait()
            second.stdout.close()


class Ends(unittest.TestCase):
    """Starts and ends of kernels."""

    def text(self, kc, code):
        found = []
        kc.execute_interactive(code, timeout=PATIENCE, output_hook=lambda m: found.append(m["content"].get("data", {}).get("text/plain")))
        return [f for f in found if f]

    def test_first_result(self):
        start = time.time()
        km, kc = start_new_kernel(kernel_name=KERNEL)
        self.assertEqual(self.text(kc, "1 + 1"), ["[0,1] 2"])
        print(f"first result of a new notebook: {time.time() - start:.2f} s", file=sys.stderr)
        kc.stop_channels()
        km.shutdown_kernel()

    def test_restart(self):
        km, kc = start_new_kernel(kernel_name=KERNEL)
        self.assertEqual(self.text(kc, "x := 5; x"), ["[0,1] 5"])
        km.restart_kernel()
        kc.wait_for_ready(timeout=PATIENCE)
        reply = kc.execute_interactive("x", timeout=PATIENCE, output_hook=lambda m: None)["content"]
        self.assertEqual((reply["status"], reply["execution_count"], reply["ename"]), ("error", 1, "type"))
        kc.stop_channels()
        km.shutdown_kernel()
        self.assertFalse(km.is_alive())

    def test_restart_of_a_kernel_that_was_killed(self):
        """A killed kernel leaves its Unix sockets behind, if it uses any."""
        for transport in ("tcp", "ipc"):
            with self.subTest(transport=transport), tempfile.TemporaryDirectory() as folder:
                km = KernelManager(kernel_name=KERNEL, transport=transport)
                if transport == "ipc":
                    km.ip = os.path.join(folder, "k")
                km.start_kernel()
                kc = km.client()
                kc.start_channels()
                kc.wait_for_ready(timeout=PATIENCE)
                self.assertEqual(self.text(kc, "x := 5; x"), ["[0,1] 5"])
                km.restart_kernel(now=True)
                kc.wait_for_ready(timeout=PATIENCE)
                self.assertEqual(self.text(kc, "1 + 1"), ["[0,1] 2"])
                kc.stop_channels()
                km.shutdown_kernel()

    def test_number_of_ranks(self):
        """The user chooses another number of ranks in the notebook, which starts a new session."""
        km, kc = start_new_kernel(kernel_name=KERNEL)
        self.assertEqual(self.text(kc, "x := symm.WorldSize(); x"), ["[0,1] 2"])
        self.assertEqual(self.text(kc, ":restart -n 3"), ["a new session with 3 ranks"])
        self.assertEqual(self.text(kc, "x := symm.WorldSize(); x"), ["[0-2] 3"])
        reply = kc.execute_interactive("%restart -n 0", timeout=PATIENCE, output_hook=lambda m: None)["content"]
        self.assertEqual((reply["status"], reply["evalue"]), ("error", ':restart: invalid value "0" for flag -n: a number from 1 to 1024 is expected (a session takes -n, --hosts, --net, --device and --backend)'))
        self.assertEqual(self.text(kc, "%restart -n 1\n"), ["a new session with 1 rank"])
        self.assertEqual(self.text(kc, "symm.WorldSize()"), ["1"])
        kc.stop_channels()
        km.shutdown_kernel()

    def test_hosts(self):
        """The number of hosts stays when the user changes the number of ranks; a number that it does not divide is refused."""
        km, kc = start_new_kernel(kernel_name=KERNEL, extra_arguments=["--hosts", "2"])
        self.assertEqual(self.text(kc, "x := symm.LSA().Ranks(); x"), ["[0] []int{0}\n[1] []int{1}"])
        reply = kc.execute_interactive(":restart -n 3", timeout=PATIENCE, output_hook=lambda m: None)["content"]
        self.assertEqual((reply["status"], reply["evalue"]), ("error", ":restart: hosts \"2\": 3 ranks cannot be divided among 2 hosts: each must have as many as the others"))
        self.assertEqual(self.text(kc, "x"), ["[0] []int{0}\n[1] []int{1}"])
        self.assertEqual(self.text(kc, ":restart -n 4"), ["a new session with 4 ranks"])
        self.assertEqual(self.text(kc, "symm.LSA().Ranks()"), ["[0,1] []int{0, 1}\n[2,3] []int{2, 3}"])
        kc.stop_channels()
        km.shutdown_kernel()

    def test_another_session(self):
        """`%restart` takes the flags of the command line. After wrong ones the session is still there, and a flag stays until another is given."""
        km, kc = start_new_kernel(kernel_name=KERNEL)
        self.addCleanup(km.shutdown_kernel)
        self.addCleanup(kc.stop_channels)
        self.assertEqual(self.text(kc, "x := 5; x"), ["[0,1] 5"])
        for flags, said in (("-n 3 --hosts 2", "3 ranks cannot be divided"), ("-n", "-n needs a value"), ("-n two", "a number is expected"), ("--hosts many", "hosts"),
                            ("--net carrier", "ucx, null or none"), ("--device tpu", "cpu, cuda"), ("--backend X", "unknown back end"), ("--sanitize", "there is no flag --sanitize"),
                            ("-n 4 --hosts 2 // two hosts", '"//" is no flag'), ("-n 4\nx", "cell of its own"), ("-n 100000", "a number from 1 to"), ("--device cpu --backend NCCL", "it needs the cuda device")):
            reply = kc.execute_interactive("%restart " + flags, timeout=PATIENCE, output_hook=lambda m: None)["content"]
            self.assertEqual(reply["status"], "error", flags)
            self.assertIn(said, reply["evalue"])
        self.assertEqual(self.text(kc, "x"), ["[0,1] 5"])
        self.assertEqual(self.text(kc, "%restart -n 4 --hosts 2 --net null"), ["a new session with 4 ranks"])
        for _ in range(2):
            self.assertEqual(self.text(kc, "symm.LSA().Ranks()"), ["[0,1] []int{0, 1}\n[2,3] []int{2, 3}"])
            self.assertIn("null", self.text(kc, ":net")[0])
            self.assertEqual(self.text(kc, ":restart --net=null"), ["a new session with 4 ranks"])
        self.assertEqual(self.text(kc, "%restart -n 2 --hosts 1"), ["a new session with 2 ranks"])
        self.assertEqual(self.text(kc, "symm.LSA().Ranks()"), ["[0,1] []int{0, 1}"])

    def test_cycle_of_waits(self):
        """Ranks that wait in a ring are called a cycle, and drawn: while the cell runs, and if its waits cannot end."""
        km, kc = start_new_kernel(kernel_name=KERNEL, extra_arguments=["--ranks", "4"])
        self.addCleanup(km.shutdown_kernel)
        self.addCleanup(kc.stop_channels)
        ring = "h := symm.Rendezvous(symm.Empty(symm.I32, 4)); h.WaitSignal((symm.Rank()+1)%4, 0{}); symm.Synchronize()"
        for limit in ("", ", symm.Timeout(5*time.Second)"):
            msg_id, shown, error = kc.execute(ring.format(limit)), [], None
            while True:
                m = kc.get_iopub_msg(timeout=PATIENCE)
                if m["parent_header"].get("msg_id") != msg_id:
                    continue
                if m["msg_type"].endswith("display_data") and "text/html" in m["content"]["data"]:
                    shown.append(m["content"]["data"])
                if m["msg_type"] == "error":
                    error = m["content"]
                if m["content"].get("execution_state") == "idle":
                    break
            self.assertGreater(len(shown), 0, error)
            self.assertEqual(shown[0]["text/html"].count("<circle"), 4)
            said = shown[0]["text/plain"] if limit else error["traceback"][0]
            self.assertIn("a cycle of 4 waits: rank 0 → 1 → 2 → 3 → 0", said)

    def test_shutdown_while_a_cell_runs(self):
        km, kc = start_new_kernel(kernel_name=KERNEL)
        kc.execute('fmt.Println("on"); for {}')
        while kc.get_iopub_msg(timeout=PATIENCE)["msg_type"] != "stream":
            pass
        start = time.time()
        kc.shutdown()
        reply = kc.get_control_msg(timeout=PATIENCE)
        self.assertEqual(reply["content"], {"status": "ok", "restart": False})
        while km.is_alive():
            self.assertLess(time.time() - start, 5)
            time.sleep(0.05)
        kc.stop_channels()
        km.cleanup_resources()

    def test_attach(self):
        """A kernel that is attached to another kernel's session sees the session's variables, and leaves the session running."""
        km, kc = start_new_kernel(kernel_name=KERNEL)
        self.assertEqual(self.text(kc, "x := 5; x"), ["[0,1] 5"])
        km2, kc2 = start_new_kernel(kernel_name=KERNEL, extra_arguments=["--attach"])
        said, value = self.text(kc2, "x * symm.WorldSize()")
        self.assertRegex(said, "^attached to the session in /.*")
        self.assertEqual(value, "[0,1] 10")
        reply = kc2.execute_interactive(":restart -n 3", timeout=PATIENCE, output_hook=lambda m: None)["content"]
        self.assertEqual((reply["status"], reply["evalue"]), ("error", ":restart: this kernel uses a session that it has not started: choose the number of ranks there"))
        kc2.execute("fmt.Scan(&x)", allow_stdin=True)
        kc2.get_stdin_msg(timeout=PATIENCE)
        kc2.input("5")
        self.assertEqual(kc2.get_shell_msg(timeout=PATIENCE)["content"]["status"], "ok")
        self.assertEqual(self.text(kc2, "x"), ["[0,1] 5"])
        kc2.stop_channels()
        km2.shutdown_kernel()
        self.assertEqual(self.text(kc, "x + 1"), ["[0,1] 6"])
        km3, kc3 = start_new_kernel(kernel_name=KERNEL)
        self.assertEqual(self.text(kc3, "1"), ["[0,1] 1"])
        km2, kc2 = start_new_kernel(kernel_name=KERNEL, extra_arguments=["--attach"])
        failed = kc2.execute_interactive("1", timeout=PATIENCE, output_hook=lambda m: None)["content"]["evalue"]
        self.assertRegex(failed, "2 sessions of yours run on this host:(.*\n)+.*name one, as in `symmrepl kernel install --attach=/.*`")
        for client, manager in ((kc2, km2), (kc3, km3)):
            client.stop_channels()
            manager.shutdown_kernel()
        kc.stop_channels()
        km.shutdown_kernel()

    def test_session_that_cannot_start(self):
        km = KernelManager(kernel_name=KERNEL)
        km.start_kernel(env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, extra_arguments=["--backend", "NCCL"])
        kc = km.client()
        kc.start_channels()
        kc.wait_for_ready(timeout=PATIENCE)
        reply = kc.execute_interactive("1", timeout=PATIENCE, output_hook=lambda m: None)["content"]
        self.assertEqual((reply["status"], reply["ename"]), ("error", "refused"))
        self.assertIn("the session could not start", reply["evalue"])
        self.assertIn("Restart the kernel", reply["evalue"])
        kc.stop_channels()
        km.shutdown_kernel()


if __name__ == "__main__":
    unittest.main()
