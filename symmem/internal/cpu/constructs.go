package cpu

import (
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/ptx"
)

// Construct is something that CUDA text may use, and what the cpu device makes of it.
type Construct struct {
	Kind    string // "header", "inline PTX" or "construct"
	Name    string // "cuda/atomic", "ld", "textures and surfaces"
	Refused bool
	Says    string // what it does; if it is refused, what to do instead
}

// Constructs lists the constructs that the cpu device has and the ones that it refuses by name, for
// documentation: the headers that a snippet can include, each with the first sentence of its own
// comment; the instructions of inline PTX; and the refused constructs outside of PTX.
func Constructs() ([]Construct, error) {
	headers, err := allHeaders()
	if err != nil {
		return nil, err
	}
	var list []Construct
	for _, h := range headers {
		if strings.HasPrefix(h.Name, "emu_") || h.Name == "cuda_on_cpu.h" {
			continue // not for users
		}
		list = append(list, Construct{Kind: "header", Name: h.Name, Says: summary(h.Name, h.Text)})
	}
	for _, i := range ptx.Instructions() {
		list = append(list, Construct{Kind: "inline PTX", Name: i.Name, Says: i.Says})
	}
	for _, r := range ptx.Refused() {
		list = append(list, Construct{Kind: "inline PTX", Name: strings.Join(r.Names, ", "), Refused: true, Says: r.What + ": " + r.Do})
	}
	for _, r := range refusals {
		list = append(list, Construct{Kind: "construct", Name: r.name, Refused: true, Says: r.why})
	}
	return list, nil
}

// summary returns the first sentence of the comment at the beginning of a header, without the
// header's name.
func summary(name, text string) string {
	var comment []string
	for line := range strings.Lines(text) {
		part, ok := strings.CutPrefix(line, "//")
		if !ok {
			break
		}
		if part = strings.TrimSpace(part); part == "" {
			break
		}
		comment = append(comment, part)
	}
	all := strings.Join(comment, " ")
	if _, after, ok := strings.Cut(all, ": "); ok {
		all = after
	}
	first, _, _ := strings.Cut(all, ". ")
	if first == "" {
		return "empty: its declarations are known without it, or are not there"
	}
	return strings.TrimSuffix(first, ".")
}
