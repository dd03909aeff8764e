package session

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The cell and the report of its end, without anything special, are the messages of every cell. They
// have a form besides JSON, which takes a tenth of the time: numbers, and the name last.

// AppendCompact implements frame.Compact for a cell.
func (c command) AppendCompact(b []byte) ([]byte, bool) {
	e := c.Eval
	if e == nil || c.Ranks != nil || e.Program != nil || e.Folder != "" || e.Sanitize != nil || e.Only != nil {
		return b, false
	}
	for _, n := range []uint64{uint64(e.Incarnation), e.Run, uint64(e.Cell), uint64(e.Line), uint64(e.Columns)} {
		b = binary.AppendUvarint(b, n)
	}
	return append(b, e.Name...), true
}

// ReadCompact implements frame.CompactReader.
func (c *command) ReadCompact(b []byte) error {
	var n [5]uint64
	name, err := numbers(b, n[:])
	if err != nil {
		return err
	}
	*c = command{Eval: &evalCommand{Incarnation: int(n[0]), Run: n[1], Cell: int(n[2]), Line: int(n[3]), Columns: int(n[4]), Name: string(name)}}
	return nil
}

// AppendCompact implements frame.Compact for the end of a cell without an error or a report.
func (e event) AppendCompact(b []byte) ([]byte, bool) {
	d := e.Done
	if d == nil || e.Ranks != nil || d.Rich || d.Err != nil || d.Tallies != nil || d.Late != "" || d.Findings != nil ||
		d.Sanitizing != (Sanitizing{}) {
		return b, false
	}
	hasValue := uint64(0)
	if d.HasValue {
		hasValue = 1
	}
	for _, n := range []uint64{uint64(e.Incarnation), d.Run, hasValue} {
		b = binary.AppendUvarint(b, n)
	}
	return b, true
}

// ReadCompact implements frame.CompactReader.
func (e *event) ReadCompact(b []byte) error {
	var n [3]uint64
	rest, err := numbers(b, n[:])
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes too many", len(rest))
	}
	if err != nil {
		return err
	}
	*e = event{Incarnation: int(n[0]), Done: &doneEvent{Run: n[1], HasValue: n[2] != 0}}
	return nil
}

// numbers reads the numbers at the beginning of b, and returns the rest.
func numbers(b []byte, list []uint64) ([]byte, error) {
	for i := range list {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errors.New("a number is cut off")
		}
		list[i], b = n, b[size:]
	}
	return b, nil
}
