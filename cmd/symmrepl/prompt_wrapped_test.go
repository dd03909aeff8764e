package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/interp/check"
)

// wrappedCells declare the names that the code of TestWrapped uses.
var wrappedCells = []string{
	"x := symm.Empty(symm.F32, 16).Fill(1)\nh := symm.Rendezvous(x)",
	"k := symm.Compile(`__global__ void k(float* p) { p[20] = 1; }`)",
	"func part(i int) { x.Slice(i, 40) }",
}

// TestWrapped: an error in the code of a command cites the line and the column in the code as it was
// entered, and shows that text, whatever the command puts around the code. Columns count from the
// beginning of the code or of its line, lines from that of the entry.
func TestWrapped(t *testing.T) {
	t.Parallel()
	s := launchHere(t, 2)
	c := &console.Console{Session: s, Size: 2, Commands: command.All(command.Programs{}), Incomplete: check.Incomplete, Invalid: check.Invalid}
	enter := func(entry string) string {
		ctx, cancel := context.WithTimeout(t.Context(), patience())
		defer cancel()
		var out strings.Builder
		c.Notebook(ctx, console.Request{Source: entry, Printer: render.New(&out, &out, 2, false)})
		return compiling.ReplaceAllString(out.String(), "")
	}
	for _, cell := range wrappedCells {
		enter(cell)
	}
	refused := func(place, source, caret string) string {
		return `^\[0,1\] cell\[\d+\]:` + place + `: Slice: \[2, 99\) is not within the first dimension of 16\n\[0,1\]     ` +
			regexp.QuoteMeta(source) + `\n\[0,1\]     ` + caret + `\^\n`
	}
	for entry, want := range map[string]string{
		// Refused calls, by each command, and in each of several lines and codes.
		":time x.Slice(2, 99)":                                  refused("1:1", "x.Slice(2, 99)", ""),
		":time -n 3 x.Fill(1); x.Slice(2, 99)":                  refused("1:12", "x.Fill(1); x.Slice(2, 99)", " {11}"),
		":time -n 3\nx.Fill(1)\n  x.Slice(2, 99)":               refused("3:3", "x.Slice(2, 99)", ""),
		":time x.Fill(1)\n%%\nx.Slice(2, 99)":                   refused("3:1", "x.Slice(2, 99)", ""),
		":compare x.Fill(1); x.Slice(2, 99)":                    refused("1:12", "x.Fill(1); x.Slice(2, 99)", " {11}"),
		"%%compare\n   x.Fill(1); x.Slice(2, 99)":               refused("2:15", "x.Fill(1); x.Slice(2, 99)", " {11}"),
		"%%time -n 2\n   x.Fill(1)\n\n x.Slice(2, 99)":          refused("4:2", "x.Slice(2, 99)", ""),
		"%%time\n   x.Fill(1); x.Slice(2, 99)":                  refused("2:15", "x.Fill(1); x.Slice(2, 99)", " {11}"),
		"%%trace --out " + t.TempDir() + "/t\n  x.Slice(2, 99)": refused("2:3", "x.Slice(2, 99)", ""),
		":trace x.Fill(1); x.Slice(2, 99)":                      refused("1:12", "x.Fill(1); x.Slice(2, 99)", " {11}"),
		"%%sanitize 2\n  x.Slice(2, 99)":                        refused("2:3", "x.Slice(2, 99)", ""),
		":sanitize x.Fill(1); x.Slice(2, 99)":                   refused("1:12", "x.Fill(1); x.Slice(2, 99)", " {11}"),
		":on 0,1 x.Fill(1); x.Slice(2, 99)":                     refused("1:12", "x.Fill(1); x.Slice(2, 99)", " {11}"),
		":slow 1 1us\n:slow off\n:time -n 2 x.Slice(2, 99)":     `(?m)^\[0,1\] cell\[\d+\]:3:1: Slice: `,

		// What does not parse, or has another type.
		":time -n 3 x.Fill(1) )":                                                    `^\[0,1\] cell\[\d+\]:1:11: syntax error: unexpected \)\n\[0,1\]     x\.Fill\(1\) \)\n\[0,1\]               \^\n$`,
		"%%compare\nx.Fill(1)\n%%\nfor range 2 {\n  x.Fill(1\n}":                    `^\[0,1\] cell\[\d+\]:5:11: missing ',' before newline in argument list\n\[0,1\]     x\.Fill\(1\n`,
		"%%compare\nx.Fill(1\n%%\nx.Fill(2)":                                        `^\[0,1\] cell\[\d+\]:2:9: .*\n\[0,1\]     x\.Fill\(1\n\[0,1\]             \^\n`,
		":compare import \"sort\"":                                                  `^\[0,1\] cell\[\d+\]:1:1: expected statement, found 'import'\n`,
		":time -n 3 x.Fill(y)":                                                      `^\[0,1\] cell\[\d+\]:1:8: undefined: y\n\[0,1\]     x\.Fill\(y\)\n\[0,1\]            \^\n`,
		"%%compare\nx.Fill(1)\n%%\n  x.Fil(1)":                                      `^\[0,1\] cell\[\d+\]:4:5: x\.Fil undefined .*\n\[0,1\]     x\.Fil\(1\)\n\[0,1\]       \^`,
		":time -n 1 a := 1; a = \"b\"; c := 2; c = \"d\"":                           `(?s)^\[0,1\] cell\[\d+\]:1:13: cannot use "b".*cell\[\d+\]:1:30: cannot use "d"`,
		":compare symm.Compile(`__global__ void k(int* p) { p[0] = no; }`)":         `^\[0,1\] cell\[\d+\]:1:\d+: .*\bno\b.*\n\[0,1\]     symm\.Compile|^\[0,1\] cell\[\d+\]:1:\d+: .*\bno\b.*\n\[0,1\]     __global__`,
		"%%compare\nsymm.Compile(`\n__global__ void k(int* p) {\n  p[0] = no;\n}`)": `^\[0,1\] cell\[\d+\]:4:\d+: .*\bno\b`,

		// Panics, also in a function of another cell and on one rank.
		":time -n 3 a := []int{1}; fmt.Println(a[len(a)])": `^\[0,1\] cell\[\d+\]:1:28: panic: runtime error: index out of range \[1\] with length 1\n`,
		":time -n 2 part(3)": `^\[0,1\] cell\[3\]:1:20: Slice: (?s:.*)\n\[0,1\]     while the cell was at cell\[\d+\]:1:1\n$`,
		":time -n 3 if symm.Rank() == 1 { panic(\"boom\") }; h.Barrier(0)": `^\[0\] cell\[\d+\]:1:40: barrier: rank 0 waited .* for rank 1 to come to the barrier on channel 0, and gave up: rank 1 failed: panic: boom\n` +
			`(?s:.*)\[1\] cell\[\d+\]:1:23: panic: boom\n`,

		// Ranks that part, and waits that cannot end.
		":time -n 2 symm.AllReduce(x, []string{\"sum\", \"max\"}[symm.Rank()])":                                `the ranks have made different collective calls .* sum at cell\[\d+\]:1; .* max at cell\[\d+\]:1\n`,
		"%%compare\nx.Fill(1)\nif symm.Rank() == 0 { h.WaitSignal(1, 2, symm.Timeout(100*time.Millisecond)) }": `(?m)^\[0\] cell\[\d+\]:3:23: wait_signal: rank 0 waited .* for a signal of rank 1 on channel 2`,
	} {
		if out := enter(entry); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s\nshows\n%s\nwant %s", entry, out, want)
		}
	}

	enter("%%compare\nx.Fill(1)\n  h.Barrier(3)")
	if out := enter(":why"); !regexp.MustCompile(`(?m)^\[0,1\] cell\[\d+\]:3: barrier on world \(2 ranks\)`).MatchString(out) {
		t.Errorf(":why shows\n%s", out)
	}
	if out := enter("%%trace\nx.Fill(1)\n  h.Barrier(3)"); !strings.Contains(out, "]:3\n") {
		t.Errorf(":trace shows\n%s", out)
	}
	if device() != "cpu" {
		return // where the kernel's store faults as an unspecified launch failure
	}
	for entry, want := range map[string]string{
		"%%sanitize\n x.Fill(1)\n k.Launch(symm.Grid(1), symm.Block(1), x)":             `launched at cell\[\d+\]:3\n`,
		":sanitize on\n:time -n 2\nx.Fill(1)\nk.Launch(symm.Grid(1), symm.Block(1), x)": `launched at cell\[\d+\]:4\n`,
		"%%compare\nx.Fill(1)\n%%\nk.Launch(symm.Grid(1), symm.Block(1), x)":            `launched at cell\[\d+\]:4\n`,
	} {
		if out := enter(entry); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s\nshows\n%s\nwant %s", entry, out, want)
		}
		enter(":sanitize off")
	}
}

// At a prompt: lines that Alt-Enter has broken, a line %% between codes, and the indentation of what
// is below the first line.
func TestWrappedAtPrompt(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("--device", device(), "-n", "1")
	x.expect("symm> ")
	x.send("x := symm.Empty(symm.F32, 16)\r")
	x.expect("symm> ")
	x.send(":time -n 2 x.Fill(1); x.Slice(2, 99)\r")
	x.expect("cell[2]:1:12: Slice: ")
	x.expect("    x.Fill(1); x.Slice(2, 99)\n")
	x.expect("               ^")
	x.send("%%time -n 2\x1b\rx.Fill(1)\x1b\r%%\x1b\r  x.Slice(2, 99)\r")
	x.expect("cell[3]:4:3: Slice: ")
	x.expect("    x.Slice(2, 99)\n    ^")
	x.send(ctrlD)
}
