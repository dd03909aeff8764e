"""Widgets, by the messages of ipywidgets' front end: python -m unittest widgets_test."""

import time
import unittest

from jupyter_client.manager import start_new_kernel

KERNEL = "symmrepl"
PATIENCE = 60  # seconds, for each message that has to come
VIEW = "application/vnd.jupyter.widget-view+json"


def state(module, version, name, **own):
    """The state of a model: what all models have, and its own."""
    return {"_dom_classes": [], "_model_module": module, "_model_module_version": version, "_model_name": name + "Model", "_view_count": None,
            "_view_module": module, "_view_module_version": version, "_view_name": name + "View", "layout": None, **own}


def control(name, **own):
    return state("@jupyter-widgets/controls", "2.0.0", name, **own)


def area(outputs=()):
    return state("@jupyter-widgets/output", "1.0.0", "Output", msg_id="", outputs=list(outputs))


class Widgets(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.km, cls.kc = start_new_kernel(kernel_name=KERNEL, startup_timeout=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.kc.stop_channels()
        cls.km.shutdown_kernel()

    def setUp(self):
        self.states = {}  # of the models, as a front end holds them
        self.run_cell("%restart")

    def take(self, msg_id):
        """Returns the messages published for a request until it is done, without status and input, and follows the states of models."""
        found = []
        while True:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            kind, content = m["msg_type"], m["content"]
            if kind == "comm_open":
                self.assertEqual(m["metadata"], {"version": "2.1.0"})
                self.assertNotIn(content["comm_id"], self.states)
                self.states[content["comm_id"]] = dict(content["data"]["state"])
            if kind == "comm_msg" and content["data"]["method"] in ("update", "echo_update"):
                self.states.setdefault(content["comm_id"], {}).update(content["data"]["state"])
            if m["parent_header"].get("msg_id") != msg_id:
                continue
            if kind == "status":
                if content["execution_state"] == "idle":
                    return found
            elif kind != "execute_input":
                found.append((kind, content))

    def run_cell(self, code, status="ok"):
        msg_id = self.kc.execute(code)
        while True:
            m = self.kc.get_shell_msg(timeout=PATIENCE)
            if m["parent_header"].get("msg_id") == msg_id:
                self.assertEqual(m["content"]["status"], status, m["content"])
                return self.take(msg_id)

    def text(self, code):
        """What a cell shows, as text."""
        return "".join(c["text"] if t == "stream" else c["data"]["text/plain"] for t, c in self.run_cell(code) if t in ("stream", "display_data", "execute_result"))

    def send(self, kind, content):
        message = self.kc.session.msg(kind, content)
        self.kc.shell_channel.send(message)
        return message["header"]["msg_id"]

    def tell(self, kind, content):
        return self.take(self.send(kind, content))

    def update(self, comm, **changed):
        return self.tell("comm_msg", {"comm_id": comm, "data": {"method": "update", "state": changed, "buffer_paths": []}})

    def click(self, comm):
        return self.tell("comm_msg", {"comm_id": comm, "data": {"method": "custom", "content": {"event": "click"}}})

    def model(self, name):
        """The comm of the newest model with a name, such as Output."""
        return [comm for comm, s in self.states.items() if s.get("_model_name") == name + "Model"][-1]

    def outputs(self):
        return self.states[self.model("Output")]["outputs"]

    def shown(self):
        """The text in the newest output area."""
        return "".join(o["text"] if o["output_type"] == "stream" else "\n".join(o["traceback"]) if o["output_type"] == "error" else o["data"]["text/plain"] for o in self.outputs())

    def test_messages_of_a_slider(self):
        messages = self.run_cell('n := display.Slider("n", 8, 1, 64)\nn')
        self.assertEqual([t for t, _ in messages], ["comm_open"] * 3 + ["execute_result"])
        slider, output, box = [c["comm_id"] for _, c in messages[:3]]
        own = {"description": "n", "description_allow_html": False, "disabled": False, "style": None, "min": 1, "max": 64, "step": 1, "value": 8,
               "continuous_update": True, "orientation": "horizontal", "readout": True, "readout_format": "d", "behavior": "drag-tap"}
        for (_, got), comm, want in zip(messages, (slider, output, box), (
                control("IntSlider", **own), area(), control("VBox", box_style="", children=["IPY_MODEL_" + slider, "IPY_MODEL_" + output]))):
            self.assertEqual(got, {"comm_id": comm, "target_name": "jupyter.widget", "data": {"state": want, "buffer_paths": []}})
        self.assertEqual(messages[3][1]["data"], {
            "text/plain": '[0,1] n: 8 of 1 to 64; display.Set("n", 9) sets it', VIEW: {"version_major": 2, "version_minor": 0, "model_id": box}})
        self.assertEqual(self.update(slider, value=12), [
            ("comm_msg", {"comm_id": slider, "data": {"method": "echo_update", "state": {"value": 12}, "buffer_paths": []}})])
        self.assertEqual(self.text("n.Int()"), "[0,1] 12")
        self.assertEqual(self.update(slider, value=3.4), [
            ("comm_msg", {"comm_id": slider, "data": {"method": "echo_update", "state": {"value": 3.4}, "buffer_paths": []}}),
            ("comm_msg", {"comm_id": slider, "data": {"method": "update", "state": {"value": 3}, "buffer_paths": []}})])
        self.assertEqual(self.text("n.Int()"), "[0,1] 3")
        self.assertEqual(self.run_cell("n.Set(5)"), [
            ("comm_msg", {"comm_id": slider, "data": {"method": "update", "state": {"value": 5}, "buffer_paths": []}}),
            ("update_display_data", {"data": {**messages[3][1]["data"], "text/plain": '[0,1] n: 5 of 1 to 64; display.Set("n", 6) sets it'}, "metadata": {},
                                     "transient": messages[3][1]["transient"]})])

    def test_other_controls(self):
        self.run_cell('x, op, box, title := display.Slider("x", 0.5, -1, 1), display.Dropdown("op", "sum", "max"), display.Checkbox("box", false), display.Text("title", "")\n'
                      'clicks := 0\nb := display.Button("go", func() (string, error) { clicks++; return fmt.Sprint(clicks, op.Text()), nil })\n'
                      'for _, w := range []*display.Widget{x, op, box, title, b} { Display(display.Auto(w)) }')
        label = {"description_allow_html": False, "disabled": False, "style": None}
        for name, own in {
                "FloatSlider": {**label, "description": "x", "min": -1, "max": 1, "step": 0.02, "value": 0.5, "continuous_update": True,
                                "orientation": "horizontal", "readout": True, "readout_format": ".6~g", "behavior": "drag-tap"},
                "Dropdown": {**label, "description": "op", "_options_labels": ["sum", "max"], "index": 0},
                "Checkbox": {**label, "description": "box", "value": False, "indent": True},
                "Text": {**label, "description": "title", "value": "", "continuous_update": False, "placeholder": ""},
                "Button": {"disabled": False, "style": None, "description": "go", "button_style": "", "icon": ""}}.items():
            self.assertEqual(self.states[self.model(name)], control(name, **own))
        self.update(self.model("Dropdown"), index=1)
        self.update(self.model("Checkbox"), value=True)
        self.update(self.model("Text"), value='a "b"')
        self.update(self.model("FloatSlider"), value=0.26)
        self.assertEqual(self.text("[]any{x.Value(), op.Value(), box.Value(), title.Value()}"), '[0,1] []any{0.26, "max", true, "a \\"b\\""}')
        for n in (1, 2):
            self.click(self.model("Button"))
            self.assertEqual(self.outputs(), [{"output_type": "display_data", "data": {"text/plain": f'[0,1] "{n}max"'}, "metadata": {}}])

    def test_a_function_of_widgets(self):
        """A function runs with the first values, and again on all ranks at each change; its output replaces the last."""
        messages = self.run_cell('display.Interact(func(n int, op string) int { fmt.Println("n is", n); return symm.Rank()*n }, display.Slider("n", 2, 1, 64), display.Dropdown("op", "sum", "max"))')
        self.assertEqual([t for t, _ in messages], ["comm_open"] * 4 + ["comm_msg", "display_data"])
        first = [{"output_type": "stream", "name": "stdout", "text": "[0,1] n is 2\n"}, {"output_type": "display_data", "data": {"text/plain": "[0] 0\n[1] 2"}, "metadata": {}}]
        self.assertEqual(self.outputs(), first)
        text = 'n: 2 of 1 to 64; display.Set("n", 3) sets it\nop: sum of sum, max; display.Set("op", "max") sets it\n[0,1] n is 2\n[0] 0\n[1] 2'
        self.assertEqual(messages[-1][1]["data"], {"text/plain": text, VIEW: {"version_major": 2, "version_minor": 0, "model_id": self.model("VBox")}})
        messages = self.update(self.model("IntSlider"), value=7)
        self.assertEqual([(c["comm_id"], c["data"]["method"]) for _, c in messages], [(self.model("IntSlider"), "echo_update"), (self.model("Output"), "update")])
        self.assertEqual(self.shown(), "[0,1] n is 7\n[0] 0\n[1] 7")
        self.assertEqual(self.text('display.Set("n", 9)'), "[0,1] n is 9\n[0] 0\n[1] 9")  # in a client without widgets, too
        self.assertEqual(self.shown(), "[0,1] n is 9\n[0] 0\n[1] 9")
        self.assertEqual(self.states[self.model("IntSlider")]["value"], 9)

    def test_a_function_that_draws(self):
        messages = self.run_cell('display.Interact(func(n int) *chart.Chart { return chart.Lines([]float64{0, float64(n)}) }, display.Slider("n", 2, 1, 64))')
        self.assertEqual(sorted(messages[-1][1]["data"]), [VIEW, "image/png", "image/svg+xml", "text/plain"])
        before = self.outputs()
        self.assertEqual(sorted(before[0]["data"]), ["image/png", "image/svg+xml", "text/plain"])
        self.update(self.model("IntSlider"), value=7)
        self.assertEqual(len(self.outputs()), 1)
        self.assertNotEqual(self.outputs(), before)

    def test_collectives(self):
        """The function runs on all ranks in lockstep: it calls collectives."""
        self.run_cell('t := symm.Empty(symm.F32, 4)\nsymm.Rendezvous(t)\n'
                      'display.Interact(func(n float64) []float32 { t.Fill(n); symm.AllReduce(t, "sum"); return t.Float32s() }, display.Slider("n", 2, 1, 64))')
        self.assertEqual(self.shown(), "[0,1] []float32{4, 4, 4, 4}")
        for n in range(3, 9):
            self.update(self.model("IntSlider"), value=n)
            self.assertEqual(self.shown(), "[0,1] []float32{%d, %d, %d, %d}" % ((2 * n,) * 4))

    def test_state_by_rank(self):
        """Code may set different values on the ranks: the control says so. A change by the user is for all of them."""
        self.run_cell('n := display.Slider("n", 8, 1, 64)\nn')
        slider = self.model("IntSlider")
        self.run_cell("n.Set(20 - symm.Rank())")
        self.assertEqual((self.states[slider]["value"], self.states[slider]["description"]), (20, "n (ranks differ)"))
        self.update(slider, value=4)
        self.assertEqual((self.states[slider]["value"], self.states[slider]["description"]), (4, "n"))
        self.assertEqual(self.text("n.Int()"), "[0,1] 4")
        self.run_cell('%%rank [1]\nm := display.Slider("m", 8, 1, 64)\nm')
        self.update(self.model("IntSlider"), value=6)  # only rank 1 has it
        self.assertEqual(self.text("%%rank [1]\nm.Int()"), "[1] 6")
        self.assertEqual(self.shown(), "")

    def test_errors(self):
        """An error is shown in the widget's panel, and the session goes on."""
        self.run_cell('display.Interact(func(n int) int { return 8 / (n - 3) }, display.Slider("n", 1, 1, 64))')
        cell = self.run_cell("0")[0][1]["execution_count"] - 1
        self.update(self.model("IntSlider"), value=3)
        error = self.outputs()[0]
        self.assertEqual((error["output_type"], error["ename"], error["evalue"]), ("error", "panic", f"[0,1] In[{cell}]:1:43: panic: runtime error: integer divide by zero"))
        self.update(self.model("IntSlider"), value=4)
        self.assertEqual(self.shown(), "[0,1] 8")
        messages = self.run_cell('display.Interact(func(n int) int { return 8 / (n - n) }, display.Slider("n", 1, 1, 64))')
        self.assertIn("integer divide by zero", messages[-1][1]["data"]["text/plain"])
        self.assertIn("integer divide by zero", self.shown())

    def test_interrupt(self):
        self.run_cell('wait := false\ndisplay.Interact(func(n int) int { fmt.Println("begun"); if n == 3 { select {} }; return n }, display.Slider("n", 1, 1, 64))')
        msg_id = self.send("comm_msg", {"comm_id": self.model("IntSlider"), "data": {"method": "update", "state": {"value": 3}}})
        deadline = time.time() + PATIENCE
        while True:  # until the panel shows that the function has begun
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["msg_type"] == "comm_msg" and "begun" in str(m["content"]):
                break
            self.assertLess(time.time(), deadline)
        self.km.interrupt_kernel()
        self.take(msg_id)
        self.assertIn("interrupted", self.shown())
        self.update(self.model("IntSlider"), value=4)
        self.assertEqual(self.shown(), "[0,1] begun\n[0,1] 4")

    def test_the_newest_change_alone_runs(self):
        self.run_cell('runs := 0\ndisplay.Interact(func(n int) int { runs++; return n }, display.Slider("n", 1, 1, 64))')
        cell = self.kc.execute("time.Sleep(2 * time.Second)")
        sent = [self.send("comm_msg", {"comm_id": self.model("IntSlider"), "data": {"method": "update", "state": {"value": n}}}) for n in range(2, 52)]
        idle = []
        while len(idle) < len(sent):
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["msg_type"] == "comm_msg":
                self.states[m["content"]["comm_id"]].update(m["content"]["data"]["state"])
            if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle" and m["parent_header"]["msg_id"] in sent:
                idle.append(m["parent_header"]["msg_id"])
        self.assertEqual(idle, sent)
        self.assertEqual(self.shown(), "[0,1] 51")
        self.assertEqual(self.text("runs"), "[0,1] 2")

    def test_states_for_another_front_end(self):
        self.run_cell('n := display.Slider("n", 8, 1, 64)\nn')
        slider, output, box = self.model("IntSlider"), self.model("Output"), self.model("VBox")
        reply = self.kc.comm_info(reply=True, timeout=PATIENCE)
        for comm in (slider, output, box):
            self.assertEqual(reply["content"]["comms"][comm], {"target_name": "jupyter.widget"})
        self.assertEqual(self.tell("comm_msg", {"comm_id": slider, "data": {"method": "request_state"}}), [
            ("comm_msg", {"comm_id": slider, "data": {"method": "update", "state": self.states[slider], "buffer_paths": []}})])
        self.assertEqual(self.tell("comm_open", {"comm_id": "asks", "target_name": "jupyter.widget.control", "data": {}}), [])
        (_, answer), = self.tell("comm_msg", {"comm_id": "asks", "data": {"method": "request_states"}})
        self.assertEqual((answer["comm_id"], answer["data"]["method"], answer["data"]["buffer_paths"]), ("asks", "update_states", []))
        for comm in (slider, output, box):
            want = self.states[comm]
            self.assertEqual(answer["data"]["states"][comm], {
                "model_name": want["_model_name"], "model_module": want["_model_module"], "model_module_version": want["_model_module_version"], "state": want})
        self.tell("comm_close", {"comm_id": "asks", "data": {}})
        self.assertEqual(self.tell("comm_msg", {"comm_id": "asks", "data": {"method": "request_states"}}), [])
        self.assertEqual(self.tell("comm_close", {"comm_id": slider, "data": {}}), [
            ("comm_close", {"comm_id": comm, "data": {}}) for comm in (box, output)])  # what is left of the panel is closed, too
        self.assertEqual(self.update(slider, value=3), [])
        self.assertEqual(self.text("n.Int()"), "[0,1] 8")

    def test_hostile_messages(self):
        """What is not a change that the control can have does nothing; the front end is told the true value."""
        self.run_cell('runs := 0\ndisplay.Interact(func(n int, title string, op string) { runs++ }, display.Slider("n", 8, 1, 64), display.Text("title", ""), display.Dropdown("op", "a", "b"))')
        slider, text, op = self.model("IntSlider"), self.model("Text"), self.model("Dropdown")
        for comm, key, true, values in ((slider, "value", 8, ("3", None, True, [3], {"a": 1}, 0, 65, 1e300, -1e300, '"); panic("x')),
                                        (text, "value", "", (3, None, True, ["a"], "a" * 70000)), (op, "index", 0, ("a b", 2, -1, 0.5, None, [0], True))):
            for value in values:
                with self.subTest(comm=key, value=str(value)[:20]):
                    self.assertEqual(self.update(comm, **{key: value}), [("comm_msg", {"comm_id": comm, "data": {"method": "update", "state": {key: true}, "buffer_paths": []}})])
        for kind, content in (
                ("comm_msg", "[]"), ("comm_msg", "x"), ("comm_msg", {}), ("comm_msg", {"comm_id": 3, "data": {}}), ("comm_msg", {"comm_id": slider}),
                ("comm_msg", {"comm_id": slider, "data": []}), ("comm_msg", {"comm_id": slider, "data": {"method": 1}}), ("comm_msg", {"comm_id": slider, "data": {"method": "eval"}}),
                ("comm_msg", {"comm_id": slider, "data": {"method": "update", "state": [1]}}), ("comm_msg", {"comm_id": slider, "data": {"method": "update", "state": {"max": 99}}}),
                ("comm_msg", {"comm_id": slider, "data": {"method": "custom", "content": {"event": "click"}}}), ("comm_msg", {"comm_id": slider, "data": {"method": "custom", "content": 3}}),
                ("comm_msg", {"comm_id": slider, "data": {"method": "update", "state": {"value": 3, "more": "a" * (2 << 20)}}}),
                ("comm_msg", {"comm_id": slider, "data": {"method": "request_states"}}), ("comm_msg", {"comm_id": self.model("Output"), "data": {"method": "update", "state": {"outputs": []}}}),
                ("comm_msg", {"comm_id": "nobody", "data": {"method": "update", "state": {"value": 3}}}), ("comm_close", {"comm_id": "nobody"}), ("comm_close", {"comm_id": [1]}),
                ("comm_open", {"comm_id": slider, "target_name": "jupyter.widget.control", "data": {}}), ("comm_open", "[]")):
            with self.subTest(kind=kind, content=str(content)[:120]):
                self.assertEqual(self.tell(kind, content), [])
        self.assertEqual(self.tell("comm_open", {"comm_id": "own", "target_name": "jupyter.widget", "data": {"state": {}}}), [("comm_close", {"comm_id": "own", "data": {}})])
        self.assertEqual(self.text("runs"), "[0,1] 1")
        self.update(text, value='"); panic("x')
        self.assertEqual(self.text("runs"), "[0,1] 2")

    def test_displays_follow(self):
        """A cell that changes a widget updates the display, so that a notebook's file has the last outputs; a user's changes do when they have ceased."""
        def update(messages):
            found = [c for t, c in messages if t == "update_display_data"]
            self.assertLessEqual(len(found), 1)
            return found[0] if found else None

        messages = self.run_cell('display.Interact(func(n int) *chart.Chart { fmt.Println("drawn", n); return chart.Lines([]float64{0, float64(n)}) }, display.Slider("n", 2, 1, 64))')
        first = messages[-1][1]
        self.assertIsNone(update(messages))
        later = update(self.run_cell('display.Set("n", 7)'))
        self.assertEqual(later["transient"], first["transient"])
        self.assertTrue(later["transient"]["display_id"])
        self.assertEqual(later["data"][VIEW], first["data"][VIEW])
        self.assertIn('n: 7 of 1 to 64; display.Set("n", 8) sets it\n[0,1] drawn 7\n', later["data"]["text/plain"])
        picture = next(o["data"]["image/png"] for o in self.outputs() if "data" in o)
        self.assertEqual((later["data"]["image/png"], later["data"]["image/png"] == first["data"]["image/png"]), (picture, False))
        self.assertIsNone(update(self.run_cell("1")))
        self.assertIsNone(update(self.update(self.model("IntSlider"), value=9)))  # the user's hand is still on it
        while True:
            m = self.kc.get_iopub_msg(timeout=PATIENCE)
            if m["msg_type"] == "update_display_data":
                break
        self.assertIn("n: 9 of 1 to 64", m["content"]["data"]["text/plain"])
        self.update(self.model("IntSlider"), value=11)
        self.assertIn("drawn 11", update(self.run_cell("1"))["data"]["text/plain"])
        messages = self.run_cell('on := display.Checkbox("on", false)\non')  # a result, without a function
        result = messages[-1][1]
        later = update(self.run_cell("on.Set(true)"))
        self.assertEqual((later["transient"], later["data"]["text/plain"]), (result["transient"], '[0,1] on: true; display.Set("on", false) sets it'))

    def test_end_of_the_kernel(self):
        """When the kernel is shut down, displays keep the last outputs in place of widgets whose models are gone."""
        km, kc = start_new_kernel(kernel_name=KERNEL, startup_timeout=PATIENCE)
        try:
            msg_id = kc.execute('display.Interact(func(n int) int { return 10 * n }, display.Slider("n", 2, 1, 64))')
            while True:
                m = kc.get_iopub_msg(timeout=PATIENCE)
                if m["msg_type"] == "display_data":
                    display_id = m["content"]["transient"]["display_id"]
                if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle" and m["parent_header"].get("msg_id") == msg_id:
                    break
            kc.shutdown()
            while m["msg_type"] != "update_display_data":
                m = kc.get_iopub_msg(timeout=PATIENCE)
            self.assertEqual(m["content"]["transient"]["display_id"], display_id)
            self.assertEqual(m["content"]["data"], {"text/plain": 'n: 2 of 1 to 64; display.Set("n", 3) sets it\n[0,1] 20'})
        finally:
            kc.stop_channels()
            km.shutdown_kernel()

    def test_lost_widgets(self):
        """Widgets of a worker that was replaced, and of a session that was restarted, are disabled and say why."""
        self.run_cell('n := display.Slider("n", 8, 1, 64)\nn')
        slider = self.model("IntSlider")
        self.run_cell('import "os"\nif symm.Rank() == 1 { os.Exit(3) }', status="error")
        self.assertTrue(self.states[slider]["disabled"])
        self.assertEqual(self.shown(), "the worker of rank 1 was replaced: the cell's variables are lost. Run the cell of this widget again.\n")
        self.assertEqual([c["data"]["state"] for _, c in self.update(slider, value=3)], [{"value": 8}])
        self.run_cell('%restart\nn := display.Slider("n", 8, 1, 64)\nn')
        self.assertNotEqual(self.model("IntSlider"), slider)
        slider = self.model("IntSlider")
        self.run_cell("%restart")
        self.assertTrue(self.states[slider]["disabled"])
        self.assertIn("the worker of rank 0,1 was replaced", self.shown())
        self.run_cell('n := display.Slider("n", 8, 1, 64)\nn')
        self.run_cell("%restart replay")
        slider = self.model("IntSlider")
        self.assertFalse(self.states[slider]["disabled"])
        self.update(slider, value=3)
        self.assertEqual(self.text("n.Int()"), "[0,1] 3")

    def test_top(self):
        """%top goes on in place while other cells run, until it was shown so often or until an interrupt while no cell runs."""
        for arguments, texts in (("-d 0.2 -n 3", ["(1 of 3, every 200ms; ■ ends it)", "(2 of 3, every 200ms; ■ ends it)", "held by this rank"]), ("-d 0.2", ["(1, every", "(2, every"])):
            with self.subTest(arguments=arguments):
                top = self.kc.execute("%top " + arguments)
                other = self.kc.execute("time.Sleep(time.Second)\nsymm.Rank()")
                shown, ran, stopped = [], False, False
                while len(shown) < len(texts) or not ran or arguments == "-d 0.2" and "■" in shown[-1]["data"]["text/plain"]:
                    m = self.kc.get_iopub_msg(timeout=PATIENCE)
                    if m["parent_header"].get("msg_id") == top and m["msg_type"].endswith("display_data"):
                        self.assertEqual(m["msg_type"], "update_display_data" if shown else "display_data")
                        shown.append(m["content"])
                    if m["parent_header"].get("msg_id") == other and m["msg_type"] == "execute_result":
                        self.assertGreater(len(shown), 2)  # it was shown while the other cell ran
                        ran = True
                    if ran and m["msg_type"] == "status" and m["content"]["execution_state"] == "idle" and not stopped:
                        self.km.interrupt_kernel()
                        stopped = True
                self.assertEqual(len({m["transient"]["display_id"] for m in shown}), 1)
                for m, want in zip(shown, texts):
                    self.assertIn(want, m["data"]["text/plain"])
                self.assertNotIn("■", shown[-1]["data"]["text/plain"])


if __name__ == "__main__":
    unittest.main()
