//go:build linux && amd64

package devicepage

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/reference"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
)

var (
	//go:embed intro.md
	intro string
	//go:embed differs.md
	differs string
)

// part is a chapter of the page: the headers whose names match.
type part struct {
	title    string
	patterns []string
	compact  bool // declarations that share a comment are one block of code
}

var parts = []part{
	{"symm.cuh", []string{"symm.cuh", "symm/*.cuh"}, false},
	{"nccl_device.h", []string{"nccl_device.h", "nccl/*.h", "nccl.h"}, false},
	{"Cooperative groups", []string{"cooperative_groups.h", "cooperative_groups/*"}, false},
	{"Floats of 16 and 8 bits", []string{"cuda_fp*.h", "cuda_bf16.h"}, true},
	{"Atomics and C++'s headers", []string{"cuda/*", "cuda/*/*", "cstdint", "*"}, true},
}

// Page returns the page.
func Page(all *reference.Reference) string {
	var b strings.Builder
	b.WriteString(intro)
	left := slices.Clone(all.Headers)
	for _, p := range parts {
		var of []reference.Header
		of, left = split(left, p.has)
		writePart(&b, all, p, of)
	}
	writePart(&b, all, part{title: "Built in", compact: true}, left)
	b.WriteString("\n## On the cpu device\n")
	writeHeaders(&b, all)
	writeApproximated(&b, all)
	writeRefused(&b)
	b.WriteString("\n" + differs)
	writeExamples(&b)
	return b.String()
}

func (p part) has(h reference.Header) bool {
	return !h.BuiltIn && slices.ContainsFunc(p.patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, h.Name)
		return ok && err == nil
	})
}

func split(list []reference.Header, in func(reference.Header) bool) (yes, no []reference.Header) {
	for _, h := range list {
		if in(h) {
			yes = append(yes, h)
		} else {
			no = append(no, h)
		}
	}
	return yes, no
}

// writePart writes the chapter of some headers.
func writePart(b *strings.Builder, all *reference.Reference, p part, headers []reference.Header) {
	fmt.Fprintf(b, "\n## %s\n", p.title)
	for _, h := range headers {
		blocks := blocksOf(all, h.Name)
		if len(blocks) == 0 && !slices.Contains(p.patterns[:min(1, len(p.patterns))], h.Name) {
			continue
		}
		if !h.BuiltIn && h.Name != p.title {
			fmt.Fprintf(b, "\n### %s\n", h.Name)
		}
		if !h.BuiltIn {
			writeText(b, about(h))
		}
		for _, block := range blocks {
			block.write(b, p.compact)
		}
	}
}

// about returns what a header's comment says behind the name.
func about(h reference.Header) string {
	for _, name := range []string{h.Name, path.Base(h.Name)} {
		if rest, ok := strings.CutPrefix(h.Text, name+": "); ok {
			return strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	return h.Text
}

// block is entries that share a comment.
type block []*reference.Entry

// blocksOf returns the entries of a header that are listed.
func blocksOf(all *reference.Reference, header string) (list []block) {
	for i := range all.Entries {
		e := &all.Entries[i]
		if e.Header != header || e.Internal {
			continue
		}
		if last := len(list) - 1; last >= 0 && list[last][0].Group == e.Group && slices.Equal(list[last][0].Texts, e.Texts) {
			list[last] = append(list[last], e)
		} else {
			list = append(list, block{e})
		}
	}
	return list
}

// longList is the number of names from which on a heading leaves some out.
const longList = 6

func (list block) write(b *strings.Builder, compact bool) {
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
	}
	if len(names) > longList {
		names = append(names[:longList:longList], "…")
	}
	fmt.Fprintf(b, "\n#### %s\n\n```cuda\n", strings.Join(names, ", "))
	for _, e := range list {
		for _, d := range declsOf(e, compact) {
			b.WriteString(d + "\n")
		}
	}
	b.WriteString("```\n")
	writeText(b, strings.Join(list[0].Texts, "\n\n"))
}

// writeText writes a comment: its paragraphs, a list of its labels, and its examples.
func writeText(b *strings.Builder, text string) {
	t := reference.Split(text)
	for _, p := range t.Prose {
		if reference.Indented(p) {
			fmt.Fprintf(b, "\n```\n%s\n```\n", strings.TrimRight(dedent(p), "\n"))
		} else {
			fmt.Fprintf(b, "\n%s\n", escape(p))
		}
	}
	first := true
	for _, label := range reference.Labels {
		if fact := t.Facts[label]; fact != "" {
			if first {
				b.WriteString("\n")
			}
			first = false
			fmt.Fprintf(b, "- **%s:** %s\n", label, escape(fact))
		}
	}
	for _, example := range t.Examples {
		fmt.Fprintf(b, "\n```cuda\n%s\n```\n", example)
	}
}

func dedent(text string) string { return strings.ReplaceAll("\n"+text, "\n  ", "\n")[1:] }

// escape makes text of a comment Markdown.
func escape(text string) string {
	return strings.NewReplacer("_", `\_`, "*", `\*`, "<", `\<`, "[", `\[`, "|", `\|`).Replace(text)
}

// writeHeaders writes the table of headers.
func writeHeaders(b *strings.Builder, all *reference.Reference) {
	b.WriteString("\n### Headers\n\nOther headers of symmrepl's than those of this page are parts of them. What a header of CUDA's toolkit declares beyond this page is a compile error on the cpu device; a GPU machine with the toolkit has all of it.\n\n| header | on the cpu device |\n|---|---|\n")
	for _, name := range headers {
		fmt.Fprintf(b, "| `%s` | %s |\n", name, state(all, name))
	}
}

// state says what becomes of #include.
func state(all *reference.Reference, name string) string {
	if !cpu.Includes(name) {
		return whyNoHeader(name)
	}
	i := slices.IndexFunc(all.Headers, func(h reference.Header) bool { return h.Name == name })
	switch {
	case i < 0:
		return "can be included; what kernels use of it is built in"
	case slices.ContainsFunc(all.Entries, func(e reference.Entry) bool { return e.Header == name && !e.Internal }), strings.HasPrefix(name, "nccl"):
		return "emulated"
	}
	return "can be included; what kernels use of it is built in"
}

// writeApproximated writes the table of what is a little different.
func writeApproximated(b *strings.Builder, all *reference.Reference) {
	b.WriteString("\n### Approximated\n\nWhat is on this page and not in this table does the same on both devices.\n\n| what | on the cpu device |\n|---|---|\n")
	for _, h := range all.Headers {
		if fact := reference.Split(h.Text).Facts["On the cpu device"]; fact != "" {
			name := "all of `" + h.Name + "`"
			if h.BuiltIn {
				name = "kernels in general"
			}
			fmt.Fprintf(b, "| %s | %s |\n", name, escape(fact))
		}
		for _, list := range blocksOf(all, h.Name) {
			fact := reference.Split(strings.Join(list[0].Texts, "\n\n")).Facts["On the cpu device"]
			if fact == "" {
				continue
			}
			var names []string
			for _, e := range list {
				names = append(names, "`"+e.Name+"`")
			}
			if len(names) > longList {
				names = append(names[:longList:longList], "…")
			}
			fmt.Fprintf(b, "| %s | %s |\n", strings.Join(names, ", "), escape(fact))
		}
	}
}

// writeRefused writes the tables of what is refused, and of inline PTX.
func writeRefused(b *strings.Builder) {
	b.WriteString("\n### Refused\n\nThe cpu device reports these before anything is compiled, at their place in the cell.\n\n| what | the report says |\n|---|---|\n")
	reasons, by := refusedConstructs()
	for _, why := range reasons {
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(by[why], "; "), escape(why))
	}
	b.WriteString("\nInline PTX, `asm volatile(\"…\")`, by instruction:\n\n| instruction | on the cpu device |\n|---|---|\n")
	for _, i := range instructions {
		how := "emulated"
		if why := i.refusal(); why != "" {
			how = "refused: " + escape(why)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", i.what, how)
	}
}

// declsOf returns declarations. In a compact block a type has its first line only, because its
// members are those of CUDA.
func declsOf(e *reference.Entry, compact bool) []string {
	if !compact {
		return e.Decls
	}
	var list []string
	for _, d := range e.Decls {
		if head, _, long := strings.Cut(d, " {\n"); long {
			d = head + " { … };"
		}
		list = append(list, d)
	}
	return list
}
