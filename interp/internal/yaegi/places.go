package yaegi

import "unsafe"

// Place is the place of an operand: in the frame of the function or of one around it, among the
// package-level variables, or a constant.
type Place struct {
	offset   uintptr
	level    int // how many functions further out; packageLevel for package-level variables
	constant *Value
}

const packageLevel = -1

// In returns the operand in a frame. It is small enough to be inlined.
func (p *Place) In(frame *Frame) *Value {
	if p.constant != nil {
		return p.constant
	}
	if p.level != 0 {
		frame = p.outer(frame)
	}
	return (*Value)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(frame.data)), p.offset))
}

// outer returns the frame that contains the operand.
func (p *Place) outer(frame *Frame) *Frame {
	if p.level == packageLevel {
		return frame.root
	}
	for range p.level {
		frame = frame.anc
	}
	return frame
}

// Place returns the place of a node's value, after the node's step was made. Ok is false if it has
// none.
func (n *Node) Place() (p Place, ok bool) {
	if n.rval.IsValid() {
		c := *valueOf(&n.rval)
		p.constant = &c
		return p, true
	}
	index := n.findex
	p.level = n.level
	if n.sym != nil {
		index = n.sym.index
		if n.sym.global {
			p.level = packageLevel
		}
	}
	p.offset = uintptr(index) * unsafe.Sizeof(Value{})
	return p, index >= 0
}

// Result returns the place where a node's step stores its result. Ok is false if it has none.
func (n *Node) Result() (p Place, ok bool) {
	p, ok = n.Place()
	return p, ok && p.constant == nil
}
