package yaegi

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"unsafe"
)

// TestSignatures calls functions of random types as the step of a call does. Package reflect, which
// makes them, passes their arguments by the calling convention, too.
func TestSignatures(t *testing.T) {
	const tries = 3000
	called := 0
	for seed := range uint64(tries) {
		if callRandomly(t, seed) {
			called++
		}
	}
	if called < tries/2 {
		t.Errorf("%d of %d signatures are possible", called, tries)
	}
}

func FuzzSignatures(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { callRandomly(t, seed) })
}

// callRandomly calls a function of a random type. It returns false if the type has no signature.
func callRandomly(t *testing.T, seed uint64) bool {
	r := rand.New(rand.NewPCG(seed, 1))
	in, out := randomTypes(r, 7), randomTypes(r, 3)
	typ := reflect.FuncOf(in, out, false)
	s := newSignature(typ)
	if s == nil {
		return false
	}
	want, give, got := randomValues(r, in), randomValues(r, out), []reflect.Value(nil)
	f := reflect.MakeFunc(typ, func(args []reflect.Value) []reflect.Value {
		got = args
		if seed%50 == 0 {
			runtime.GC()
		}
		return give
	})
	var regs registers
	for i, v := range want {
		s.in[i].pass(&regs, memoryOf(v))
	}
	function, _ := FunctionOf(f)
	if s.few {
		callWords(unsafe.Pointer(function), &regs, s.pointers)
	} else {
		callAny(unsafe.Pointer(function), &regs, s.pointers)
	}
	for i, v := range want {
		if !reflect.DeepEqual(got[i].Interface(), v.Interface()) {
			t.Errorf("seed %d: argument %d of %v is %v, not %v", seed, i, typ, got[i], v)
		}
	}
	if seed%50 == 0 {
		runtime.GC()
	}
	for i, v := range give {
		to := reflect.New(v.Type())
		s.out[i].receive(&regs, to.UnsafePointer())
		if !reflect.DeepEqual(to.Elem().Interface(), v.Interface()) {
			t.Errorf("seed %d: result %d of %v is %v, not %v", seed, i, typ, to.Elem(), v)
		}
	}
	return true
}

// memoryOf returns the address of a copy of a value.
func memoryOf(v reflect.Value) unsafe.Pointer {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.UnsafePointer()
}

var basicTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[uint16](), reflect.TypeFor[int32](), reflect.TypeFor[int](), reflect.TypeFor[int](),
	reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](), reflect.TypeFor[string](),
	reflect.TypeFor[*int](), reflect.TypeFor[*int](), reflect.TypeFor[[]int](), reflect.TypeFor[any](), reflect.TypeFor[error](),
	reflect.TypeFor[map[int]int](),
}

// randomTypes returns fewer than n types.
func randomTypes(r *rand.Rand, n int) []reflect.Type {
	list := make([]reflect.Type, r.IntN(n))
	for i := range list {
		list[i] = randomType(r, 2)
	}
	return list
}

func randomType(r *rand.Rand, depth int) reflect.Type {
	switch kind := r.IntN(12); {
	case depth > 0 && kind == 0:
		return reflect.ArrayOf(r.IntN(3), randomType(r, depth-1))
	case depth > 0 && kind == 1:
		fields := make([]reflect.StructField, r.IntN(4))
		for i := range fields {
			fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: randomType(r, depth-1)}
		}
		return reflect.StructOf(fields)
	}
	return basicTypes[r.IntN(len(basicTypes))]
}

func randomValues(r *rand.Rand, types []reflect.Type) []reflect.Value {
	list := make([]reflect.Value, len(types))
	for i, t := range types {
		list[i] = reflect.New(t).Elem()
		setRandomly(r, list[i])
	}
	return list
}

func setRandomly(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 1)
	case reflect.Int8, reflect.Int32, reflect.Int:
		v.SetInt(r.Int64() - math.MaxInt64/2)
	case reflect.Uint16:
		v.SetUint(r.Uint64())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(r.NormFloat64(), r.NormFloat64()))
	case reflect.String:
		v.SetString(strconv.Itoa(r.Int()))
	case reflect.Pointer:
		v.Set(reflect.ValueOf(new(r.Int())))
	case reflect.Slice:
		v.Set(reflect.ValueOf([]int{r.Int(), r.Int()}))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[int]int{r.Int(): r.Int()}))
	case reflect.Interface:
		if v.Type().NumMethod() == 0 {
			v.Set(reflect.ValueOf(r.Int()))
		} else {
			v.Set(reflect.ValueOf(strconv.ErrRange))
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			setRandomly(r, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			setRandomly(r, v.Index(i))
		}
	}
}
