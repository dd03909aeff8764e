package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// An operation that cannot be part of a graph is refused during a capture. The error cites its line
// and says what to do instead. The capture is dropped, the call has no other effect, and the next
// capture works. The test covers every operation that docs/ops.md marks so.
func TestRefusedInCapture(t *testing.T) {
	t.Parallel()
	s := launchHere(t, 2)
	eval := func(source string) session.Reply {
		ctx, cancel := context.WithTimeout(t.Context(), patience())
		defer cancel()
		return s.Eval(ctx, session.Cell{Source: source})
	}
	if reply := eval(`t := symm.Empty(symm.F32, 4).Fill(1); h := symm.Rendezvous(t); u := symm.Empty(symm.F32, 4); l := symm.Local(symm.F32, 4)
s := symm.NewStream(); e := symm.NewEvent(); e.Record(); g := symm.Capture(func() { h.Barrier(0) }); m := symm.Empty(symm.F32, 2, 2); symm.Rendezvous(m); w := symm.Local(symm.F32, 2, 2); pair := symm.NewGroup(0, 1)`); len(reply.Errors) > 0 {
		t.Fatal(reply.Errors[0])
	}
	calls := map[string]struct{ call, op string }{
		"OneShotAllReduce":         {`symm.OneShotAllReduce(t, "sum")`, "one_shot_all_reduce"},
		"ReduceScatter":            {`symm.ReduceScatter(t, "sum")`, "reduce_scatter"},
		"AllGather":                {`symm.AllGather(t)`, "all_gather"},
		"AllToAll":                 {`symm.AllToAll(t)`, "all_to_all"},
		"MultimemOneShotAllReduce": {`symm.MultimemOneShotAllReduce(t, "sum")`, "multimem_one_shot_all_reduce"},
		"AllGatherMatMul":          {`symm.AllGatherMatMul(m, []*symm.Tensor{w})`, "all_gather_matmul"},
		"MatMulReduceScatter":      {`symm.MatMulReduceScatter(m, w, "sum")`, "matmul_reduce_scatter"},
		"Rendezvous":               {`symm.Rendezvous(u)`, "Rendezvous"},
		"UseMemPool":               {`symm.UseMemPool(func() { symm.Local(symm.F32, 4) })`, "Local"},
		"Empty":                    {`symm.Empty(symm.F32, 4)`, "Empty"},
		"Local":                    {`symm.Local(symm.F32, 4)`, "Local"},
		"Tensor.Free":              {`u.Free()`, "Free"},
		"Tensor.Float32s":          {`t.Float32s()`, "Float32s"},
		"Tensor.Float64s":          {`t.Float64s()`, "Float64s"},
		"Tensor.Ints":              {`t.Ints()`, "Ints"},
		"Tensor.Item":              {`t.Slice(0, 1).Item()`, "Item"},
		"Tensor.Equal":             {`t.Equal(u)`, "Equal"},
		"Tensor.AllClose":          {`t.AllClose(1)`, "AllClose"},
		"Tensor.MaxDiff":           {`t.MaxDiff(h.GetRemoteTensor(0))`, "MaxDiff"},
		"Tensor.Stats":             {`t.Stats()`, "Stats"},
		"Tensor.Extremes":          {`t.Extremes(2)`, "Extremes"},
		"Equal":                    {`symm.Equal(t, u)`, "Equal"},
		"AllClose":                 {`symm.AllClose(t, u)`, "AllClose"},
		"MaxDiff":                  {`symm.MaxDiff(t, 1)`, "MaxDiff"},
		"Map":                      {`symm.Map("x0*x1 + rank", t, 2)`, "map"},
		"Reduce":                   {`symm.Reduce("max(abs(x0))", t)`, "reduce"},
		"Tensor.Add":               {`t.Add(1)`, "Add"},
		"Sub":                      {`symm.Sub(1, t)`, "Sub"},
		"Tensor.Where":             {`t.Where(t, 0)`, "Where"},
		"Tensor.Convert":           {`t.Convert(symm.F64)`, "Convert"},
		"Tensor.Sum":               {`t.Sum()`, "Sum"},
		"Tensor.ArgMax":            {`t.ArgMax(symm.Along(0))`, "ArgMax"},
		"Tensor.Dot":               {`t.Dot(u)`, "Dot"},
		"Tensor.Transpose":         {`m.Transpose()`, "Transpose"},
		"Concatenate":              {`symm.Concatenate(0, t, u)`, "Concatenate"},
		"Tensor.CopyFrom":          {`t.CopyFrom([]float32{1, 2, 3, 4})`, "CopyFrom"},
		"NewGroup":                 {`symm.NewGroup(0)`, "NewGroup"},
		"Group.Free":               {`pair.Free()`, "Group.Free"},
		"NewStream":                {`symm.NewStream()`, "NewStream"},
		"Stream.Free":              {`s.Free()`, "Stream.Free"},
		"Stream.Synchronize":       {`s.Synchronize()`, "Synchronize"},
		"OnStream":                 {`symm.OnStream(s, func() {})`, "OnStream"},
		"Fill on another stream":   {`h.Barrier(0, s)`, "barrier"},
		"Synchronize":              {`symm.Synchronize()`, "Synchronize"},
		"Event.Synchronize":        {`e.Synchronize()`, "Event.Synchronize"},
		"Elapsed":                  {`symm.Elapsed(func() {})`, "Elapsed"},
		"Trace":                    {`symm.Trace(func() {})`, "Trace"},
		"Capture":                  {`symm.Capture(func() {})`, "Capture"},
		"Graph.Replay":             {`g.Replay()`, "Replay"},
		"Graph.Free":               {`g.Free()`, "Graph.Free"},
		"PendingSignals":           {`symm.PendingSignals()`, "PendingSignals"},
		"DevComm":                  {`symm.DevComm(symm.DevReqs{LsaBarriers: 1})`, "DevComm"},
		"Load":                     {`symm.Load("/dev/null", symm.F32, symm.Ordinary())`, "Load"},
		"Tensor.Save":              {`t.Save("/dev/null")`, "Save"},
		"SaveFile":                 {`symm.SaveFile(map[string]*symm.Tensor{"a": t}, "/dev/null")`, "SaveFile"},
		"NewTokenSwitch": {`symm.NewTokenSwitch(symm.TokenSwitchConfig{Mode: "low_latency", Layout: "rank_major", Experts: 2, TopK: 1, MaxTokens: 1, Hidden: 8, DType: symm.BF16})`,
			"NewTokenSwitch"},
	}
	page, err := os.ReadFile("../../docs/ops.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, section := range strings.Split(string(page), "\n### ")[1:] {
		name, _, _ := strings.Cut(section, "\n")
		if regexp.MustCompile(`(?m)^- \*\*Capture:\*\* (refused|memory cannot|with Into; without)`).MatchString(section) {
			found++
			if _, ok := calls[name]; !ok {
				t.Errorf("this test has no call of %s", name)
			}
		}
	}
	if found < 7 {
		t.Errorf("docs/ops.md marks %d operations as refused in a capture, want at least 7", found)
	}
	for name, c := range calls {
		reply := eval("symm.Capture(func() {\n\tt.Fill(5)\n\t" + c.call + "\n})")
		if len(reply.Errors) != 1 {
			t.Errorf("%s: %d errors", name, len(reply.Errors))
			continue
		}
		e := reply.Errors[0]
		if strings.Contains(e.Msg, "NVLink multicast is off") {
			t.Logf("%s cannot be tried here: %s", name, e.Msg)
			continue
		}
		if len(e.Ranks) != 2 || e.Kind != session.KindMisuse || e.Op != c.op || e.Line != 3 || !strings.Contains(e.Msg, "captur") {
			t.Errorf("%s: %s on %v, operation %q: %v", name, e.Kind, e.Ranks, e.Op, e)
		}
	}
	reply := eval(`ok := symm.Capture(func() { symm.OneShotAllReduceOut(t, "sum", l) }); ok.Replay(); fmt.Sprint(t.Float32s(), l.Float32s())`)
	if len(reply.Errors) > 0 || len(reply.Values) != 1 || reply.Values[0].Text != `"[1 1 1 1] [2 2 2 2]"` {
		t.Errorf("the next capture: %+v", reply)
	}
}
