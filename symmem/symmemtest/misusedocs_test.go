package symmemtest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// accepted is a misuse that an operation accepts, for a reason given in the documentation.
type accepted struct {
	ops    string // pattern of names of operations
	misuse string // pattern of misuses
	doc    string // the documented object: "Tensor.Fill", "Runtime", "package symmem"
	words  string // words of that documentation
}

// acceptances are all misuses that operations accept.
var acceptances = []accepted{
	{`Runtime\..*`, `receiver (nil|zero)`, "Runtime", "faults like any nil pointer"},
	{`(Tensor|Tile|Handle|Group|Kernel|Stream|Event|Graph|Work|DeviceComm|DeviceWindow|MemPool|TokenSwitch|TokenRouting|Timeline)\.(String|HTML|SimpleRender)`,
		`receiver (nil|zero)`, "package symmem", "prints as nil"},
	{`Tensor\.(Backend|DType|Shape|Numel|Bytes|Memory|Symmetric|String|HTML|SimpleRender)|Tile\.(Shape|String)|Group\.(Backend|Channels|Name|Rank|Ranks|Size|String)|` +
		`Handle\.(BufferSize|Group|Offset|Rank|WorldSize|SignalPadSize|String)|Kernel\.(Name|String)|(Stream|Event|Graph|Work)\.String|` +
		`DeviceComm\.(Group|String)|MemPool\.(Group|Stats|String)|DeviceWindow\.(Handle|String)|TokenSwitch\.(Config|Group|String)|TokenRouting\.String`,
		`receiver (freed|of a closed world|of a freed switch|that has not joined).*`, "package symmem",
		"can still be printed and asked for their name"},
	{`Group\.(Backend|Channels|Name|Rank|Ranks|Size|String)`, `receiver of other ranks`, "Group", "holds the group too, to name it"},
	{`(Runtime|symmem)\.NewNamedGroup`, `string nonsense`, "Runtime.NewNamedGroup", "letters, digits"},
	{`Group\.Free`, `receiver of other ranks`, "Group.Free", "On a rank that is not a member it does nothing"},
	{`Runtime\.(Backend|Backends|IsNvshmemAvailable|Caps|DefaultDType|DeviceName|Findings|Group|Held|Busy|Note|PauseTrace|Progress|Rank|Sanitized|Sharing|SignalPadSize|Size|Slowed|State|StopTrace|Tallies|Waits|Why)`, `receiver closed`, "Runtime.Close", "answers questions about itself"},
	{`Sharing\.With`, `int .*`, "Sharing.With", "if there is no such rank"},
	{`Runtime\.Close`, `receiver closed`, "Runtime.Close", "Closing it again does nothing"},
	{`Runtime\.(Abort|EndWaits)`, `receiver closed`, "Runtime.Abort", "after Close it does nothing"},
	{`Runtime\.Abort`, `string .*`, "Runtime.Abort", "any text"},
	{`Runtime\.EndWaits`, `string .*`, "Runtime.EndWaits", "any text"},
	{`Runtime\.Begin`, `uint64 .*`, "Runtime.Begin", "number run of a session, any number"},
	{`Runtime\.BeginCell`, `int .*`, "Runtime.BeginCell", "any number"},
	{`Runtime\.BeginCell`, `receiver closed`, "Runtime.BeginCell", "After Close it does nothing"},
	{`Runtime\.Why`, `int .*`, "Runtime.Why", "any number"},
	{`Runtime\.Begin`, `receiver closed`, "Runtime.Begin", "After Close it does nothing"},
	{`(Runtime|symmem)\.CompileAt`, `(string|int) .*`, "Runtime.CompileAt", "they may be any"},
	{`(Runtime|symmem)\.(MultiRoot)?TileReduce`, `\*symmem.Tile nil`, "Runtime.TileReduce", "out may be nil"},
	{`Tensor\.Rand`, `int .*`, "Tensor.Rand", "the seed, any int"},
	{`Tensor\.Normal`, `int .*`, "Tensor.Normal", "the seed, any int"},
	{`Tensor\.Extremes`, `\[\]int (4611686018427387904|1<<40|twice 1<<40)`, "Tensor.Extremes", "at most so many parts"},
	{`symmem\.Along`, `int .*`, "symmem.Along", "The operation refuses"},
	{`Tensor\.View`, `\[\]int -1`, "Tensor.View", "One dimension may be -1"},
	{`(Grid|Block)Size\.String`, `receiver .*`, "symmem.Grid", "Launch refuses others"},
	{`symmem\.(Grid|Block)`, `\[\]int .*`, "symmem.Block", "Launch refuses others"},
	{`ParamList\.String`, `receiver .*`, "symmem.Params", "LoadKernel] refuses others"},
	{`symmem\.Params`, `\[\]string .*`, "symmem.Params", "LoadKernel] refuses others"},
	{`symmem\.SharedBytes`, `int .*`, "symmem.SharedBytes", "Launch refuses"},
	{`symmem\.Timeout`, `time.Duration .*`, "symmem.Timeout", "The operation refuses a timeout"},
	{`symmem\.MajorAlign`, `int .*`, "symmem.MajorAlign", "The operation refuses an n"},
	{`symmem\.Shard`, `int .*`, "symmem.Shard", "The operation refuses"},
	{`(Runtime|symmem)\.Load`, `\[\]interface \{\} too few`, "Runtime.Load", "may be left out if the file has one tensor"},
	{`symmem\.Into`, `\*symmem.Tensor .*`, "symmem.Into", "The operation refuses"},
	{`symmem\.Scales`, `.*`, "symmem.Scales", "The operation refuses"},
	{`symmem\.Via`, `string .*`, "symmem.Via", "The operation refuses"},
	{`(Runtime|symmem|Group|MemPool)\.(Empty|Local|Host)`, `symmem.DType 0`, "DType", "stands for a type where a tensor is made"},
	{`(Runtime|symmem)\.AllToAllPermute`, `int -1`, "Runtime.AllToAllPermute", "A negative dimension"},
	{`DType\.(Size|String)`, `receiver .*`, "DType", "another value has no size"},
}

// acceptance returns the index of the acceptance that applies, or -1.
func acceptance(op, misuse string) int {
	return slices.IndexFunc(acceptancePatterns(), func(p [2]*regexp.Regexp) bool { return p[0].MatchString(op) && p[1].MatchString(misuse) })
}

// acceptancePatterns returns the compiled patterns of the acceptances: of operations, and of misuses.
var acceptancePatterns = sync.OnceValue(func() (list [][2]*regexp.Regexp) {
	for _, a := range acceptances {
		list = append(list, [2]*regexp.Regexp{regexp.MustCompile("^(?:" + a.ops + ")$"), regexp.MustCompile("^(?:" + a.misuse + ")$")})
	}
	return list
})

// TestAcceptances checks that all acceptances are documented.
func TestAcceptances(t *testing.T) {
	docs := map[string]string{}
	for _, dir := range []string{"..", "../internal/core"} {
		for _, d := range declarations(t, dir) {
			docs[d.name] += d.doc + " "
		}
	}
	for _, a := range acceptances {
		if !strings.Contains(docs[a.doc], a.words) {
			t.Errorf("the documentation of %s does not say %q, for which %q is accepted by %s", a.doc, a.words, a.misuse, a.ops)
		}
	}
}
