package symmem

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/signature"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// packer lays the arguments of a launch out as the kernel expects them and refuses arguments that
// do not fit.
type packer struct {
	core.Call
	k       *Kernel
	n       int // arguments so far
	data    []byte
	tensors []*Tensor
	given   []int // by tensor: which parameter it is
	handles []*Handle
	places  []int // by handle: which parameter it is
	comms   []*DeviceComm
	comm    []int // by communicator: which parameter it is
	windows []*DeviceWindow
	placed  []placement
}

// placement is a tensor that was given for a parameter that is declared symmetric.
type placement struct {
	i int // which parameter
	t *Tensor
}

// add packs the next argument.
func (p *packer) add(a any) {
	params := p.k.layout
	i := p.n
	p.n++
	if i >= len(params) {
		return // counted, and refused as a whole
	}
	param, typ := params[i], p.k.params[i]
	field := p.data[param.Offset : param.Offset+param.Size]
	switch v := a.(type) {
	case *Tensor:
		if p.k.symmetric != nil && p.k.symmetric[i] {
			p.k.rt.core.Usable(p.Op(), v)
			if typ.Base != signature.Handle && !accepts(typ, v.DType()) {
				p.refuse(i, a, "")
			}
			p.placed = append(p.placed, placement{i, v})
			return
		}
		if typ.Pointers != 1 {
			hint := ""
			if typ.Base == signature.Handle {
				hint = "give it the handle that Rendezvous returned, or declare the parameter by Symmetric"
			}
			p.refuse(i, a, hint)
		}
		p.k.rt.core.Usable(p.Op(), v)
		if !accepts(typ, v.DType()) {
			hint := ""
			if d := dtypeOf(typ); d != 0 {
				hint = fmt.Sprintf("give it a tensor of %v", d)
			}
			p.refuse(i, a, hint)
		}
		p.tensors = append(p.tensors, v)
		p.given = append(p.given, i)
		binary.LittleEndian.PutUint64(field, uint64(core.Operand(v).Addr()))
	case *Handle:
		if typ.Base != signature.Handle || typ.Pointers > 0 {
			p.refuse(i, a, "a handle goes to a parameter of type symm::Handle")
		}
		p.k.rt.core.HandleArgument(p.Op(), v)
		if param.Size != int(unsafe.Sizeof(abi.Handle{})) {
			p.refuse(i, a, "")
		}
		p.handles = append(p.handles, v)
		p.places = append(p.places, i)
	case *DeviceWindow:
		if typ.Base != signature.Window || typ.Pointers > 0 {
			p.refuse(i, a, "a window goes to a parameter of type ncclWindow_t")
		}
		if p.k.module.library != "" {
			binary.LittleEndian.PutUint64(field, uint64(p.k.rt.core.NativeWindow(p.Op(), v)))
		} else {
			binary.LittleEndian.PutUint64(field, uint64(p.k.rt.core.WindowArgument(p.Op(), v)))
		}
		p.windows = append(p.windows, v)
	case *DeviceComm:
		if typ.Base != signature.Comm || typ.Pointers > 0 {
			p.refuse(i, a, "a communicator goes to a parameter of type ncclDevComm")
		}
		if p.k.module.library != "" {
			argument := p.k.rt.core.NativeComm(p.Op(), v)
			if param.Size != len(argument) {
				p.refuse(i, a, "")
			}
			copy(field, argument)
		} else if p.k.rt.core.CommArgument(p.Op(), v); param.Size != int(unsafe.Sizeof(abi.NcclDevComm{})) {
			p.refuse(i, a, "")
		}
		p.comms = append(p.comms, v)
		p.comm = append(p.comm, i)
	case uintptr:
		if typ.Pointers == 0 && (typ.Base != signature.Uint || typ.Size != 8) {
			p.refuse(i, a, "")
		}
		binary.LittleEndian.PutUint64(field, uint64(v))
	case bool:
		if typ.Base != signature.Bool || typ.Pointers > 0 {
			p.refuse(i, a, "")
		}
		if v {
			field[0] = 1
		}
	default:
		p.scalar(i, a, param, typ, field)
	}
}

// place finds or makes the symmetric memory of tensors for parameters that are declared symmetric. It
// returns the groups that the call has to join for that.
func (p *packer) place() (groups []*Group) {
	for _, s := range p.placed {
		t, h := p.Place(s.t)
		param, typ := p.k.layout[s.i], p.k.params[s.i]
		field := p.data[param.Offset : param.Offset+param.Size]
		switch {
		case typ.Base == signature.Handle:
			p.handles, p.places = append(p.handles, h), append(p.places, s.i)
		case typ.Pointers == 2:
			binary.LittleEndian.PutUint64(field, uint64(p.Pointers(h)))
			p.TouchHandle(h)
			groups = append(groups, h.Group())
		default:
			binary.LittleEndian.PutUint64(field, uint64(core.Operand(t).Addr()))
			p.tensors, p.given = append(p.tensors, t), append(p.given, s.i)
			groups = append(groups, h.Group())
		}
	}
	return groups
}

// check gives the extents of tensors to parameters that are checked pointers. An address that is
// given as a number has none.
func (p *packer) check() {
	if !p.k.module.bounded {
		return
	}
	for i, extent := range p.GiveChecked(p.k.module.source, p.tensors, p.handles) {
		if param := p.k.layout[p.given[i]]; param.Checked {
			arg := abi.Checked{At: core.Operand(p.tensors[i]).Addr(), Extent: extent}
			copy(p.data[param.Offset:], launch.Bytes(&arg))
		}
	}
}

// sameGroup refuses communicators and windows of different groups: the kernel would confuse the
// ranks of one group with the ranks of the other.
func (p *packer) sameGroup() {
	var first *Group
	check := func(g *Group) {
		if first == nil {
			first = g
		}
		if g != first {
			panic(p.Misuse("group", "give symm.Window and symm.DevComm the same group",
				"%s: the arguments are communicators and windows of %v and of %v", p.k.sig, first, g))
		}
	}
	for _, c := range p.comms {
		check(c.Group())
	}
	for _, w := range p.windows {
		check(w.Handle().Group())
	}
}

// scalar packs a Go number. A complex number goes to a pair of floats.
func (p *packer) scalar(i int, a any, param device.Param, typ signature.Type, field []byte) {
	if typ.Base == signature.Unknown && typ.Pointers == 0 && p.structure(i, a, field) {
		return
	}
	x, ok := element.NumberOf(a)
	if d := complexOf(typ); !ok && d != 0 && typ.Pointers == 0 && reflect.ValueOf(a).CanComplex() {
		if why, _ := d.Put(field, 0, a); why != "" {
			p.refuse(i, a, why)
		}
		return
	}
	if !ok {
		hint := ""
		if k := reflect.ValueOf(a).Kind(); k == reflect.Slice || k == reflect.Array {
			hint = "it is host memory: copy it to a tensor first"
		}
		p.refuse(i, a, hint)
	}
	if typ.Pointers > 0 {
		p.refuse(i, a, "a pointer is given as a tensor, or as a uintptr that is an address on the device")
	}
	if typ.Lanes > 1 {
		p.refuse(i, a, "")
	}
	switch typ.Base {
	case signature.Int, signature.Uint:
		if x.Class == element.Floating {
			p.refuse(i, a, "convert it to an integer")
		}
		bits, ok := fitting(x, typ)
		if !ok {
			p.refuse(i, a, "it does not fit")
		}
		putWord(field, bits)
	case signature.Float, signature.Half, signature.BFloat16, signature.Float8E4M3, signature.Float8E5M2:
		bits, why := element.Type(dtypeOf(typ)).Encode(x)
		if why != "" {
			p.refuse(i, a, why)
		}
		putWord(field, bits)
	case signature.Unknown:
		// A name we cannot look up, such as a typedef: only a value of exactly its size can be
		// meant.
		if int(reflect.TypeOf(a).Size()) != param.Size {
			p.refuse(i, a, fmt.Sprintf("its size is %d bytes", param.Size))
		}
		bits := uint64(x.Int) | x.Uint
		if x.Class == element.Floating && param.Size == 4 {
			bits = uint64(math.Float32bits(float32(x.Float)))
		} else if x.Class == element.Floating {
			bits = math.Float64bits(x.Float)
		}
		putWord(field, bits)
	default:
		p.refuse(i, a, "")
	}
}

// structure packs a Go struct, array or slice of numbers as the memory of a struct of C++, and reports
// whether a is one of these.
func (p *packer) structure(i int, a any, field []byte) bool {
	v := reflect.ValueOf(a)
	switch {
	case !v.IsValid():
		return false
	case v.Kind() == reflect.Slice && isPlain(v.Type().Elem()):
		array := reflect.New(reflect.ArrayOf(v.Len(), v.Type().Elem())).Elem()
		reflect.Copy(array, v)
		v = array
	case v.Kind() != reflect.Struct && v.Kind() != reflect.Array || !isPlain(v.Type()):
		return false
	}
	if n := int(v.Type().Size()); n != len(field) {
		p.refuse(i, a, fmt.Sprintf("it has %d bytes, and the parameter %d", n, len(field)))
	}
	at := reflect.New(v.Type())
	at.Elem().Set(v)
	copy(field, unsafe.Slice((*byte)(at.UnsafePointer()), len(field)))
	return true
}

// isPlain reports whether values of a type are numbers, addresses of the device included, all through.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isPlain(t.Elem())
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}

// fitting returns an integer's bits if the parameter can hold it.
func fitting(x element.Number, typ signature.Type) (uint64, bool) {
	bits := 8 * typ.Size
	if x.Class == element.Unsigned {
		if typ.Base == signature.Int {
			bits--
		}
		return x.Uint, bits == 64 || x.Uint>>bits == 0
	}
	if typ.Base == signature.Uint {
		return uint64(x.Int), x.Int >= 0 && (bits == 64 || x.Int>>bits == 0)
	}
	return uint64(x.Int), x.Int>>(bits-1) == 0 || x.Int>>(bits-1) == -1
}

// putWord stores the low bytes of a little-endian word.
func putWord(field []byte, bits uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], bits)
	copy(field, word[:])
}

func (p *packer) refuse(i int, a any, hint string) {
	params := p.k.layout
	if hint == "" && p.k.params[i].Pointers == 0 {
		switch p.k.params[i].Base {
		case signature.Window:
			hint = "give it symm.Window(t)"
		case signature.Comm:
			hint = "give it a communicator: symm.DevComm(symm.DevReqs{LsaBarriers: 16})"
		}
	}
	name := signature.Param{Name: params[i].Name, Type: params[i].Type}.String()
	e := p.Misuse(params[i].Name, hint, "%s: argument %d, %q, cannot be %s", p.k.sig, i+1, name, describe(a))
	panic(e)
}

// accepts reports whether a tensor of a dtype may be given for a pointer of this type.
func accepts(typ signature.Type, d DType) bool {
	switch {
	case typ.Base == signature.Void, typ.Base == signature.Unknown:
		return true
	case typ.Base == signature.Uint && typ.Size == 1:
		return true // bytes
	case element.Type(d).IsComplex():
		return complexOf(typ) == element.Type(d)
	}
	return dtypeOf(typ) == d
}

// complexOf returns the complex type whose numbers are pairs such as float2, or 0.
func complexOf(typ signature.Type) element.Type {
	if typ.Base != signature.Float || typ.Lanes != 2 {
		return 0
	}
	return map[int]element.Type{4: element.C64, 8: element.C128}[typ.Size]
}

// dtypeOf is the element type of a type's lanes, or 0.
func dtypeOf(typ signature.Type) DType {
	switch typ.Base {
	case signature.Half:
		return F16
	case signature.BFloat16:
		return BF16
	case signature.Float8E4M3:
		return F8E4M3
	case signature.Float8E5M2:
		return F8E5M2
	case signature.Float:
		return map[int]DType{4: F32, 8: F64}[typ.Size]
	case signature.Bool:
		return Bool
	case signature.Int:
		return map[int]DType{1: I8, 2: I16, 4: I32, 8: I64}[typ.Size]
	case signature.Uint:
		return map[int]DType{1: U8, 2: U16, 4: U32, 8: U64}[typ.Size]
	}
	return 0
}
