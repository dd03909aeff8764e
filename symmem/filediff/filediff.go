// Package filediff compares files of tensors, bit by bit.
package filediff

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/measure"
	"github.com/symmrepl/symmrepl/symmem/internal/tensorfile"
)

// Compare compares the tensors that some ranks have saved twice, under the same names: got and want
// return the paths of a rank's files with names, such as .safetensors. Compare returns the names of
// the tensors that differ on any rank, in the order of the files, and the first difference: of the
// first of them the first element, with both values and the units in the last place between them, and
// how many elements of all tensors differ. A tensor that only one of the files has, or with another
// type or shape, differs. If all bits are equal, Compare returns nil and "".
func Compare(ranks []int, got, want func(rank int) string) (names []string, first string, err error) {
	var all []*measure.Difference
	for _, rank := range ranks {
		list, other, err := compare(rank, got(rank), want(rank))
		if err != nil || other != "" {
			return nil, other, err
		}
		for _, d := range list {
			if !slices.Contains(names, d.Result) {
				names = append(names, d.Result)
			}
		}
		all = append(all, list...)
	}
	if d := measure.Merge(all); d != nil {
		first = d.String()
	}
	return names, first, nil
}

// compare compares the files of a rank. other is the reason why they cannot be compared.
func compare(rank int, gotPath, wantPath string) (list []*measure.Difference, other string, err error) {
	got, err := tensorfile.Open(gotPath)
	if err != nil {
		return nil, "", err
	}
	defer got.Close()
	want, err := tensorfile.Open(wantPath)
	if err != nil {
		return nil, "", err
	}
	defer want.Close()
	for _, w := range want.Tensors {
		g, err := got.Find(w.Name)
		if err != nil || g.Type != w.Type || !slices.Equal(g.Shape, w.Shape) {
			is := "is not there"
			if err == nil {
				is = "is " + describe(g)
			}
			return nil, fmt.Sprintf("%s on rank %d %s, not %s", w.Name, rank, is, describe(w)), nil
		}
		a, err := elements(g)
		if err != nil {
			return nil, "", err
		}
		b, err := elements(w)
		if err != nil {
			return nil, "", err
		}
		if d := measure.Compare(w.Type, a, b); d != nil {
			d.Rank, d.Result = rank, w.Name
			list = append(list, d)
		}
	}
	return list, "", nil
}

func describe(t *tensorfile.Tensor) string { return fmt.Sprintf("%v%v", t.Type, t.Shape) }

// elements reads the bytes of a tensor.
func elements(t *tensorfile.Tensor) ([]byte, error) {
	part, err := t.Whole()
	if err != nil {
		return nil, err
	}
	b := make([]byte, part.Bytes())
	if len(b) == 0 {
		return nil, nil
	}
	_, err = part.ReadAt(b, 0)
	return b, err
}
