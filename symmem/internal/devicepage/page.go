//go:build linux && (amd64 || arm64)

package devicepage

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
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
	{"nvshmem.h", []string{"nvshmem.h", "nvshmem/*.h", "nvshmemx.h"}, true},
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
		} else if h.Name != "cuda_on_cpu.h" {
			_, title, _ := strings.Cut(h.Text, ": ")
			title, _, _ = strings.Cut(title, ".")
			fmt.Fprintf(b, "\n### %s\n", strings.ToUpper(title[:min(1, len(title))])+title[min(1, len(title)):])
		}
		for _, block := range blocks {
			block.write(b, p.compact)
		}
	}
}

// about returns the text of a header's comment behind the name.
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

// A block of more than longBlock entries, which macros have made, shows shortBlock of them.
const longBlock, shortBlock = 30, 18

func (list block) write(b *strings.Builder, compact bool) {
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
	}
	if len(names) > longList {
		names = append(names[:longList:longList], "…")
	}
	fmt.Fprintf(b, "\n#### %s\n\n```cuda\n", strings.Join(names, ", "))
	left := 0
	if len(list) > longBlock {
		list, left = list[:shortBlock], len(list)-shortBlock
	}
	for _, e := range list {
		for _, d := range declsOf(e, compact) {
			b.WriteString(d + "\n")
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "// and %d more, of other types\n", left)
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
			fmt.Fprintf(b, "\n%s\n", markdown(p))
		}
	}
	first := true
	for _, label := range reference.Labels {
		if fact := t.Facts[label]; fact != "" {
			if first {
				b.WriteString("\n")
			}
			first = false
			fmt.Fprintf(b, "- **%s:** %s\n", label, markdown(fact))
		}
	}
	for _, example := range t.Examples {
		fmt.Fprintf(b, "\n```cuda\n%s\n```\n", example)
	}
}

func dedent(text string) string { return strings.ReplaceAll("\n"+text, "\n  ", "\n")[1:] }

// markdown returns text of a comment as Markdown, with names and calls as code.
func markdown(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range code.FindAllStringIndex(text, -1) {
		b.WriteString(escape.Replace(text[at:m[0]]))
		b.WriteString("`" + text[m[0]:m[1]] + "`")
		at = m[1]
	}
	b.WriteString(escape.Replace(text[at:]))
	return b.String()
}

var (
	// code matches words with :: or _ in them, members, headers and calls, with their arguments.
	code   = regexp.MustCompile("`[^`]+`|(?:[A-Za-z_][\\w/]*(?:::|->))*(?:[A-Za-z]\\w*_\\w*|__\\w+|[a-z]+[A-Z]\\w*|[\\w/]+\\.(?:cuh|h|md)|h\\.\\w+|(?:symm|cuda|cooperative_groups)::\\w+)(?:<[\\w:, ]+>)?(?:\\([^() ]*(?:, [^() ]+)*\\))?")
	escape = strings.NewReplacer("_", `\_`, "*", `\*`, "<", `\<`, "[", `\[`, "|", `\|`, "`", "\\`")
)

// writeHeaders writes the table of headers, by what becomes of them.
func writeHeaders(b *strings.Builder, all *reference.Reference) {
	b.WriteString("\n### Headers\n\nWhat a header of CUDA's toolkit declares beyond this page is a compile error on the cpu device; on a GPU machine with the toolkit it is there.\n\n| on the cpu device | headers |\n|---|---|\n")
	by := map[string][]string{}
	var states []string
	for _, name := range headers {
		s := state(all, name)
		if by[s] == nil {
			states = append(states, s)
		}
		by[s] = append(by[s], "`<"+name+">`")
	}
	for _, s := range states {
		fmt.Fprintf(b, "| %s | %s |\n", s, strings.Join(by[s], ", "))
	}
}

// state describes the result of #include.
func state(all *reference.Reference, name string) string {
	if !cpu.Includes(name) {
		return whyNoHeader(name)
	}
	if slices.ContainsFunc(all.Entries, func(e reference.Entry) bool { return e.Header == name && !e.Internal }) ||
		strings.HasPrefix(name, "nccl") || strings.HasPrefix(name, "nvshmem") {
		return "emulated"
	}
	return "can be included; the names that kernels use are built in"
}

// writeApproximated writes the table of what is a little different.
func writeApproximated(b *strings.Builder, all *reference.Reference) {
	b.WriteString("\n### Approximated\n\nNames on this page that are not in this table do the same on both devices.\n\n| name | on the cpu device |\n|---|---|\n")
	for _, h := range all.Headers {
		if fact := reference.Split(h.Text).Facts["On the cpu device"]; fact != "" {
			name := "all of `" + h.Name + "`"
			if h.BuiltIn {
				name = "kernels in general"
			}
			fmt.Fprintf(b, "| %s | %s |\n", name, markdown(fact))
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
			fmt.Fprintf(b, "| %s | %s |\n", strings.Join(names, ", "), markdown(fact))
		}
	}
}

// writeRefused writes the tables of what is refused, and of inline PTX.
func writeRefused(b *strings.Builder) {
	b.WriteString("\n### Refused\n\nThe cpu device reports these before anything is compiled, at their place in the cell.\n\n| construct | report |\n|---|---|\n")
	reasons, by := refusedConstructs()
	for _, why := range reasons {
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(by[why], "; "), markdown(why))
	}
	b.WriteString("\nInline PTX, `asm volatile(\"…\")`, by instruction:\n\n| on the cpu device | instructions |\n|---|---|\n")
	var states []string
	of := map[string][]string{}
	for _, i := range instructions {
		how := "emulated"
		if why := i.refusal(); why != "" {
			how = "refused: " + markdown(why)
		}
		if of[how] == nil {
			states = append(states, how)
		}
		of[how] = append(of[how], "`"+i.what+"`")
	}
	for _, how := range states {
		fmt.Fprintf(b, "| %s | %s |\n", how, strings.Join(of[how], "; "))
	}
}

// declsOf returns declarations. In a compact block a type has its first line only, because its
// members are those of CUDA; overloads that differ in one type are one line; and those for
// __nv_bfloat16 are left out if there is one for __half.
func declsOf(e *reference.Entry, compact bool) []string {
	if !compact {
		return e.Decls
	}
	var list []string
	types := map[string][]string{} // by the declaration with T
	for _, d := range e.Decls {
		if strings.Contains(d, "__nv_bfloat16") && slices.Contains(e.Decls, asHalf.Replace(d)) {
			continue
		}
		if head, _, long := strings.Cut(d, " {\n"); long {
			d = head + " { … };"
		}
		d = strings.TrimPrefix(strings.TrimPrefix(d, "constexpr "), "#define ")
		general, t := general(d)
		if types[general] == nil {
			list = append(list, general)
		}
		types[general] = append(types[general], t)
	}
	for i, g := range list {
		if t := types[g]; len(t) > 1 {
			list[i] += "  // T: " + strings.Join(t, ", ")
		} else if t[0] != "" {
			list[i] = particular(g, t[0])
		}
	}
	return list
}

var (
	asHalf = strings.NewReplacer("__nv_bfloat16", "__half", "bfloat16", "half")
	// first matches the type of a function's first parameter.
	first  = regexp.MustCompile(`\((?:const )?((?:unsigned )?(?:long long|\w+))[ *)]`)
	typeT  = regexp.MustCompile(`\bT\b`)
	number = []string{"int", "unsigned", "long", "unsigned long", "long long", "unsigned long long", "float", "double"}
)

// general returns a declaration with T in place of the type of its first parameter, if that is a
// type of numbers, and the type.
func general(decl string) (text, typ string) {
	m := first.FindStringSubmatch(decl)
	if m == nil || !slices.Contains(number, m[1]) || typeT.MatchString(decl) {
		return decl, ""
	}
	return regexp.MustCompile(`\b`+m[1]+`\b`).ReplaceAllString(decl, "T"), m[1]
}

func particular(decl, typ string) string { return typeT.ReplaceAllString(decl, typ) }
