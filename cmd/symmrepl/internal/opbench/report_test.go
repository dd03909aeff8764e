package opbench

import (
	"strings"
	"testing"
)

const recorded = `{"step":"all-reduce","date":"2026-11-26","gpus":2}
{"device":"cuda","ranks":2,"dtype":"bf16","empty_us":1.5,"round_trip_us":0,"link_gbps":331.25}
{"op":"one_shot_all_reduce","by":"","bytes":4096,"graph_us":2.678,"eager_us":8.35,"limit_us":2,"peers":{"NCCL":{"op":"one_shot_all_reduce","by":"NCCL","bytes":4096,"graph_us":14.01,"eager_us":0},"PyTorch":{"op":"x","by":"PyTorch","bytes":4096,"graph_us":6.55,"eager_us":9.51}},"ratio":0.409}

{"op":"barrier","by":"","bytes":0,"graph_us":2.5,"eager_us":0}
{"op":"barrier","not_measured":"NVSHMEM: it has | none\\nat all"}
{"device":"cuda","ranks":2,"shared":[[0,1]]}
{"op":"overlap","way":"NCCL","product_us":1e3}
`

const reported = `step all-reduce, date 2026-11-26, gpus 2, device cuda, ranks 2, dtype bf16, empty µs 1.50, round trip µs 0, link GB/s 331.25

| op | bytes | graph µs | eager µs | limit µs | NCCL graph µs | PyTorch graph µs | PyTorch eager µs | ratio |
|---|---|---|---|---|---|---|---|---|
| one_shot_all_reduce | 4096 | 2.68 | 8.35 | 2 | 14.01 | 6.55 | 9.51 | 0.41 |
| barrier |  | 2.50 |  |  |  |  |  |  |

- not measured: barrier: NVSHMEM: it has \\| none at all

device cuda, ranks 2

Ranks share a GPU: these times are not comparable with times of ranks on GPUs of their own.

| op | way | product µs |
|---|---|---|
| overlap | NCCL | 1000.00 |

`

func TestReport(t *testing.T) {
	var out strings.Builder
	if err := Report(strings.NewReader(strings.ReplaceAll(recorded, `\\n`, `\n`)), &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), strings.ReplaceAll(reported, `\\`, `\`); got != want {
		t.Errorf("the report is\n%s\nwant\n%s", got, want)
	}
	for _, wrong := range []string{"[1]", "no figures", `{"op":"x","bytes":`, "3"} {
		if err := Report(strings.NewReader(`{"device":"cuda"}`+"\n"+wrong+"\n"), &out); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add(recorded)
	f.Add(`{"a":[{"b":[1]}],"op":{"op":1}}`)
	f.Fuzz(func(t *testing.T, figures string) {
		var out strings.Builder
		Report(strings.NewReader(figures), &out)
	})
}
