"""JupyterLab's debug requests, in its own order: python -m unittest debug_test."""

import threading
import time
import unittest

from jupyter_client.manager import start_new_kernel

KERNEL = "symmrepl"
PATIENCE = 60  # seconds, for each message that has to come

CELL = """t := symm.Empty(symm.F32, 2, 3).Fill(symm.Rank())
double := func(n int) int {
	twice := 2 * n
	return twice
}
sum := 0
for i := range 2 {
	sum += double(i + symm.Rank())
}
sum"""


class Debug(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.manager, self.client = start_new_kernel(kernel_name=KERNEL, startup_timeout=PATIENCE)
        self.addCleanup(self.manager.shutdown_kernel, now=False)
        self.addCleanup(self.client.stop_channels)
        self.seq = -1
        self.events = []

    def ask(self, command, arguments=None):
        """Sends a request as JupyterLab does, and returns the reply."""
        self.seq += 1
        content = {"type": "request", "seq": self.seq, "command": command}
        if arguments is not None:
            content["arguments"] = arguments
        message = self.client.session.msg("debug_request", content)
        self.client.control_channel.send(message)
        while True:
            reply = self.client.control_channel.get_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                self.assertEqual(reply["msg_type"], "debug_reply")
                self.assertEqual((reply["content"]["type"], reply["content"]["command"], reply["content"]["request_seq"]), ("response", command, self.seq))
                return reply["content"]

    def body(self, command, arguments=None):
        reply = self.ask(command, arguments)
        self.assertTrue(reply["success"], reply)
        return reply.get("body")

    def rows(self, reference):
        return {v["name"]: v for v in self.body("variables", {"variablesReference": reference})["variables"]}

    def below(self, row, *names):
        for name in names:
            row = self.rows(row["variablesReference"])[name]
        return row

    def event(self, name):
        """Waits for an event of the debugger."""
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["msg_type"] == "debug_event" and message["content"]["event"] == name:
                return message["content"].get("body")

    def run_cell(self, code):
        reply = self.client.execute_interactive(code, timeout=PATIENCE, output_hook=lambda _: None)
        self.assertEqual(reply["content"]["status"], "ok", reply["content"])

    def inspect(self):
        return {v["name"]: v for v in self.body("inspectVariables", {})["variables"]}

    def test_an_evaluation_is_interrupted(self):
        self.body("initialize", {})
        self.body("attach")
        reply = []
        asks = threading.Thread(target=lambda: reply.append(self.ask("evaluate", {"expression": "for { }"})))
        asks.start()
        time.sleep(1)  # the evaluation runs, or waits for the session
        for _ in range(PATIENCE):
            self.manager.interrupt_kernel()
            asks.join(1)
            if not asks.is_alive():
                break
        self.assertFalse(reply[0]["success"])
        self.assertIn("interrupted", reply[0]["message"])
        self.assertIn("42", self.body("evaluate", {"expression": "6 * 7"})["result"])

    def test_offered(self):
        self.client.kernel_info()
        info = self.client.get_shell_msg(timeout=PATIENCE)["content"]
        self.assertEqual((info["debugger"], info["supported_features"]), (True, ["debugger"]))
        self.assertEqual(self.manager.kernel_spec.metadata, {"debugger": True})

    def test_variables_without_a_breakpoint(self):
        info = self.body("debugInfo")
        self.assertEqual((info["isStarted"], info["stoppedThreads"], info["richRendering"]), (False, [], True))
        self.run_cell(CELL)
        rows = self.inspect()
        self.assertEqual(list(rows), ["t", "double", "sum", "rank 0", "rank 1"])
        self.assertEqual((rows["sum"]["value"], rows["sum"]["type"]), ("[0] 2  [1] 6", "int = [0] 2  [1] 6"))
        self.assertEqual(self.below(rows["rank 1"], "sum")["value"], "6")
        one = self.below(rows["t"], "rank 1")
        got = {name: row["value"] for name, row in self.rows(one["variablesReference"]).items()}
        want = {"dtype": "f32", "shape": "[2, 3]", "memory": "symmetric", "bytes": "24", "values": "", "statistics": "NaN, infinity, least, greatest, mean"}
        device = got.pop("device")
        self.assertEqual(got, want)
        self.assertTrue(device.startswith(("cpu", "cuda")), device)
        self.assertEqual(self.below(one, "values", "[1]")["value"], "1 1 1")
        self.assertEqual(self.below(one, "values", "[1]", "[2]")["value"], "1")
        self.assertEqual(self.below(one, "statistics", "max")["value"], "1")

        rich = self.body("richInspectVariables", {"variableName": "t"})
        self.assertEqual(sorted(rich["data"]), ["image/svg+xml", "text/html", "text/plain"])
        self.assertIn("<svg", rich["data"]["image/svg+xml"])
        self.assertEqual(rich["data"]["text/html"].count("<svg"), 2)
        self.assertIn("<summary>rank 1</summary>", rich["data"]["text/html"])
        self.assertTrue(rich["data"]["text/plain"].startswith("[0] f32[2, 3] on cpu") or "cuda" in rich["data"]["text/plain"])
        self.assertEqual(self.body("richInspectVariables", {"variableName": "rank 0"}), {"data": {}, "metadata": {}})

    def test_refused(self):
        self.assertEqual(self.ask("next", {"threadId": 1})["message"], "the debugger has not been started")
        self.assertEqual(self.ask("copyToGlobals", {})["message"], 'the request "copyToGlobals" is not supported')
        self.assertFalse(self.ask("variables", {"variablesReference": 99})["success"])

    def start(self):
        """What JupyterLab sends when its user switches the debugger on."""
        self.body("debugInfo")
        self.body("debugInfo", {})
        self.body("initialize", {
            "clientID": "jupyterlab", "clientName": "JupyterLab", "adapterID": KERNEL, "pathFormat": "path", "linesStartAt1": True, "columnsStartAt1": True,
            "supportsVariableType": True, "supportsVariablePaging": True, "supportsRunInTerminalRequest": True, "locale": "en"})
        self.body("attach", {})
        self.assertIsNone(self.event("initialized"))
        self.assertTrue(self.body("debugInfo", {})["isStarted"])
        self.inspect()

    def set_breakpoints(self, code, *lines):
        path = self.body("dumpCell", {"code": code})["sourcePath"]
        self.body("debugInfo", {})
        set_ = self.body("setBreakpoints", {"breakpoints": [{"line": n} for n in lines], "source": {"path": path}, "sourceModified": False})
        return path, [(b["line"], b["verified"]) for b in set_["breakpoints"]]

    def stopped(self):
        """What JupyterLab asks for when the ranks have stopped. It returns the frames and the variables of each scope."""
        event = self.event("stopped")
        frames = self.body("stackTrace", {"threadId": event["threadId"]})["stackFrames"]
        self.body("source", {"sourceReference": 0, "source": {"path": frames[0]["source"]["path"]}})
        scopes = self.body("scopes", {"frameId": frames[0]["id"]})["scopes"]
        return event, frames, {s["name"]: self.rows(s["variablesReference"]) for s in scopes}

    def test_stop(self):
        self.start()
        path, set_ = self.set_breakpoints(CELL, 4)
        self.assertEqual(set_, [(4, True)])
        request = self.client.execute(CELL)
        event, frames, scopes = self.stopped()
        self.assertEqual((event["reason"], event["threadId"], event["allThreadsStopped"]), ("breakpoint", 1, True))
        self.assertEqual([(f["line"], f["source"]["path"]) for f in frames], [(4, path), (8, path)])
        self.assertEqual(list(scopes), ["rank 0", "rank 1"])
        self.assertEqual([scopes[r]["twice"]["value"] for r in scopes], ["0", "2"])
        self.assertEqual(list(scopes["rank 1"])[:2], ["twice", "n"])  # locals first
        self.assertIn("t", scopes["rank 1"])
        self.assertEqual(self.below(scopes["rank 1"]["t"], "values", "[0]")["value"], "1 1 1")
        frame = frames[0]["id"]
        self.assertEqual(self.body("evaluate", {"context": "repl", "expression": "twice + n", "frameId": frame})["result"], "[0] 0\n[1] 3")
        self.assertFalse(self.ask("evaluate", {"context": "repl", "expression": "nosuch", "frameId": frame})["success"])
        rich = self.body("richInspectVariables", {"variableName": "twice", "frameId": frame})
        self.assertEqual(rich["data"]["text/plain"], "[0] 0\n[1] 2")
        info = self.body("debugInfo", {})
        self.assertEqual(info["stoppedThreads"], [1, 2])
        self.assertEqual(info["breakpoints"], [{"source": path, "breakpoints": [{"line": 4}]}])

        self.body("stepOut", {"threadId": 1})
        self.event("continued")
        event, frames, _ = self.stopped()
        self.assertEqual((event["reason"], frames[0]["line"]), ("step", 8))
        self.body("next", {"threadId": 1})
        event, frames, scopes = self.stopped()
        self.assertEqual((event["reason"], frames[0]["line"]), ("breakpoint", 4))
        self.assertEqual([scopes[r]["twice"]["value"] for r in scopes], ["2", "4"])
        self.body("continue", {"threadId": 1})
        self.event("continued")
        reply = self.client.get_shell_msg(timeout=PATIENCE)
        self.assertEqual((reply["parent_header"]["msg_id"], reply["content"]["status"]), (request, "ok"))
        self.assertEqual(self.inspect()["sum"]["value"], "[0] 2  [1] 6")
        self.body("disconnect", {"restart": False, "terminateDebuggee": False})
        self.assertFalse(self.body("debugInfo", {})["isStarted"])
        self.run_cell(CELL)  # nothing stops

    def test_leaving_lets_the_ranks_go_on(self):
        self.start()
        self.set_breakpoints(CELL, 6)
        request = self.client.execute(CELL)
        self.stopped()
        self.body("disconnect", {"restart": False, "terminateDebuggee": False})
        reply = self.client.get_shell_msg(timeout=PATIENCE)
        self.assertEqual((reply["parent_header"]["msg_id"], reply["content"]["status"]), (request, "ok"))

    def test_interrupt_while_stopped(self):
        self.start()
        self.set_breakpoints(CELL, 6)
        self.client.execute(CELL)
        self.stopped()
        self.manager.interrupt_kernel()
        self.event("continued")
        reply = self.client.get_shell_msg(timeout=PATIENCE)["content"]
        self.assertEqual((reply["status"], reply["ename"]), ("error", "interrupted"))


if __name__ == "__main__":
    unittest.main()
