package generics_test

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	ourcmp "github.com/symmrepl/symmrepl/interp/generics/cmp"
	ourerrors "github.com/symmrepl/symmrepl/interp/generics/errors"
	ourmaphash "github.com/symmrepl/symmrepl/interp/generics/hash/maphash"
	ouriter "github.com/symmrepl/symmrepl/interp/generics/iter"
	ourmaps "github.com/symmrepl/symmrepl/interp/generics/maps"
	ourrand "github.com/symmrepl/symmrepl/interp/generics/math/rand/v2"
	ourreflect "github.com/symmrepl/symmrepl/interp/generics/reflect"
	oursync "github.com/symmrepl/symmrepl/interp/generics/sync"
	"github.com/symmrepl/symmrepl/interp/generics/sync/atomic"
	"github.com/symmrepl/symmrepl/interp/generics/unique"
	"github.com/symmrepl/symmrepl/interp/generics/weak"
)

func TestCmp(t *testing.T) {
	floats := []float64{math.Inf(-1), -1, math.Copysign(0, -1), 0, 1, math.Inf(1), math.NaN()}
	for _, a := range floats {
		for _, b := range floats {
			if got, want := ourcmp.Compare(a, b), cmp.Compare(a, b); got != want {
				t.Errorf("Compare(%v, %v) is %d, not %d", a, b, got, want)
			}
			if got, want := ourcmp.Less(a, b), cmp.Less(a, b); got != want {
				t.Errorf("Less(%v, %v) is %v, not %v", a, b, got, want)
			}
		}
	}
	if got := []any{ourcmp.Or(0, 0, 3, 4), ourcmp.Or("", ""), ourcmp.Or[int](), ourcmp.Compare("a", "b")}; !slices.Equal(got, []any{3, "", 0, -1}) {
		t.Errorf("they are %v", got)
	}
}

func TestMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	random := func() map[int]string {
		if r.IntN(8) == 0 {
			return nil
		}
		m := map[int]string{}
		for range r.IntN(6) {
			m[r.IntN(4)] = string(rune('a' + r.IntN(2)))
		}
		return m
	}
	alike := func(a, b string) bool { return a <= b }
	odd := func(k int, v string) bool { return k%2 == 1 || v == "a" }
	for range 1000 {
		a, b := random(), random()
		what := fmt.Sprintf("%v and %v", a, b)
		same(t, "Equal of "+what, func() []any { return []any{ourmaps.Equal(a, b)} }, func() []any { return []any{maps.Equal(a, b)} })
		same(t, "EqualFunc of "+what, func() []any { return []any{ourmaps.EqualFunc(a, b, alike)} }, func() []any { return []any{maps.EqualFunc(a, b, alike)} })
		same(t, "Clone of "+what, func() []any { return []any{ourmaps.Clone(a)} }, func() []any { return []any{maps.Clone(a)} })
		same(t, "Keys of "+what, func() []any { return []any{slices.Sorted(iter.Seq[int](ourmaps.Keys(a)))} },
			func() []any { return []any{slices.Sorted(maps.Keys(a))} })
		same(t, "Values of "+what, func() []any { return []any{slices.Sorted(iter.Seq[string](ourmaps.Values(a)))} },
			func() []any { return []any{slices.Sorted(maps.Values(a))} })
		same(t, "Collect of "+what, func() []any { return []any{ourmaps.Collect(ourmaps.All(a))} }, func() []any { return []any{maps.Collect(maps.All(a))} })
		x, y := maps.Clone(a), maps.Clone(a)
		same(t, "Copy of "+what, func() []any { ourmaps.Copy(x, b); return []any{x} }, func() []any { maps.Copy(y, b); return []any{y} })
		same(t, "Insert of "+what, func() []any { ourmaps.Insert(x, ourmaps.All(b)); return []any{x} },
			func() []any { maps.Insert(y, maps.All(b)); return []any{y} })
		same(t, "DeleteFunc of "+what, func() []any { ourmaps.DeleteFunc(x, odd); return []any{x} }, func() []any { maps.DeleteFunc(y, odd); return []any{y} })
	}
	nan := map[float64]int{math.NaN(): 1, math.NaN(): 2}
	if len(ourmaps.Clone(nan)) != 2 || ourmaps.Equal(nan, nan) {
		t.Error("NaNs are not keys of their own")
	}
	for range ourmaps.All(map[int]int{1: 1, 2: 2}) {
		break
	}
}

func TestPull(t *testing.T) {
	var log []any
	note := func(v ...any) { log = append(log, v...) }
	seq := func(yield func(int) bool) {
		defer note("left")
		for i := range 3 {
			if !yield(i) {
				return
			}
		}
	}
	next, stop := ouriter.Pull(seq)
	for range 2 {
		note(next())
	}
	stop()
	note(next())
	stop()
	if want := []any{0, true, 1, true, "left", 0, false}; !slices.Equal(log, want) {
		t.Errorf("it was %v, not %v", log, want)
	}
	log = nil
	next, stop = ouriter.Pull(seq)
	defer stop()
	for range 5 {
		note(next())
	}
	if want := []any{0, true, 1, true, 2, true, "left", 0, false, 0, false}; !slices.Equal(log, want) {
		t.Errorf("it was %v, not %v", log, want)
	}
	next2, stop2 := ouriter.Pull2(func(yield func(string, int) bool) { yield("a", 1); panic("end") })
	defer stop2()
	if k, v, ok := next2(); k != "a" || v != 1 || !ok {
		t.Errorf("it gave %q, %d, %v", k, v, ok)
	}
	if got := outcome(func() []any { next2(); return nil }); got != "panic: end" {
		t.Errorf("it ended with %s", got)
	}
	if k, v, ok := next2(); k != "" || v != 0 || ok {
		t.Errorf("after its end it gave %q, %d, %v", k, v, ok)
	}
}

func TestOnce(t *testing.T) {
	calls := 0
	value := oursync.OnceValue(func() int { calls++; return calls })
	values := oursync.OnceValues(func() (int, error) { calls++; return calls, fs.ErrExist })
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { value() })
	}
	wg.Wait()
	if v := value(); v != 1 || calls != 1 {
		t.Errorf("the value is %d after %d calls", v, calls)
	}
	for range 2 {
		if v, err := values(); v != 2 || err != fs.ErrExist {
			t.Errorf("the values are %d, %v", v, err)
		}
	}
	fails := oursync.OnceValue(func() int { calls++; panic(fmt.Sprint("call ", calls)) })
	for range 2 {
		if got := outcome(func() []any { return []any{fails()} }); got != "panic: call 3" {
			t.Errorf("it was %s", got)
		}
	}
}

func TestPointer(t *testing.T) {
	type node struct {
		next atomic.Pointer[node]
		v    int
	}
	var p atomic.Pointer[node]
	a, b := &node{v: 1}, &node{v: 2}
	log := []any{p.Load(), p.CompareAndSwap(a, b), p.CompareAndSwap(nil, a), p.Load(), p.CompareAndSwap(nil, b), p.Swap(b), p.Load(), p.Swap(nil), p.Load()}
	if want := []any{(*node)(nil), false, true, a, false, a, b, b, (*node)(nil)}; !slices.Equal(log, want) {
		t.Errorf("it was %v, not %v", log, want)
	}
	if !p.CompareAndSwap(nil, b) {
		t.Error("a stored nil is not nil")
	}
	var head atomic.Pointer[node]
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				n := &node{v: 1}
				for {
					old := head.Load()
					n.next.Store(old)
					if head.CompareAndSwap(old, n) {
						break
					}
				}
			}
		})
	}
	wg.Wait()
	count := 0
	for n := head.Load(); n != nil; n = n.next.Load() {
		count += n.v
	}
	if count != 800 {
		t.Errorf("%d nodes of 800 are in the list", count)
	}
}

func TestN(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 200 {
		seen[ourrand.N(3*time.Nanosecond)] = true
	}
	if want := map[time.Duration]bool{0: true, 1: true, 2: true}; !maps.Equal(seen, want) {
		t.Errorf("it gave %v", seen)
	}
	same(t, "N(0)", func() []any { return []any{ourrand.N(0)} }, func() []any { return []any{rand.N(0)} })
	same(t, "N(int8(-1))", func() []any { return []any{ourrand.N(int8(-1))} }, func() []any { return []any{rand.N(int8(-1))} })
	if n := ourrand.N(uint64(math.MaxUint64)); n == math.MaxUint64 {
		t.Error("it gave its limit")
	}
}

func TestAsType(t *testing.T) {
	err := fmt.Errorf("outer: %w", errors.Join(errors.New("x"), &fs.PathError{Op: "open", Err: fs.ErrNotExist}))
	for _, err := range []error{nil, err, errors.New("y")} {
		got, ok := ourerrors.AsType[*fs.PathError](err)
		if want, wantOK := errors.AsType[*fs.PathError](err); got != want || ok != wantOK {
			t.Errorf("of %v it is %v, %v", err, got, ok)
		}
		got2, ok := ourerrors.AsType[interface {
			error
			Timeout() bool
		}](err)
		if want, wantOK := errors.AsType[interface {
			error
			Timeout() bool
		}](err); got2 != want || ok != wantOK {
			t.Errorf("of %v it is %v, %v", err, got2, ok)
		}
	}
}

func TestReflect(t *testing.T) {
	if ourreflect.TypeFor[error]() != reflect.TypeFor[error]() || ourreflect.TypeFor[[]int]() != reflect.TypeFor[[]int]() {
		t.Error("TypeFor is another type")
	}
	v := reflect.ValueOf(&[]any{1, nil}).Elem()
	for i := range 2 {
		same(t, fmt.Sprint("TypeAssert of element ", i), func() []any { x, ok := ourreflect.TypeAssert[int](v.Index(i)); return []any{x, ok} },
			func() []any { x, ok := reflect.TypeAssert[int](v.Index(i)); return []any{x, ok} })
	}
	same(t, "TypeAssert of nothing", func() []any { x, ok := ourreflect.TypeAssert[int](reflect.Value{}); return []any{x, ok} },
		func() []any { x, ok := reflect.TypeAssert[int](reflect.Value{}); return []any{x, ok} })
}

func TestUnique(t *testing.T) {
	type p struct {
		a int
		b string
	}
	h := unique.Make(p{1, "x"})
	if h != unique.Make(p{1, "x"}) || h == unique.Make(p{1, "y"}) || h.Value() != (p{1, "x"}) {
		t.Error("handles are not as their values")
	}
	if unique.Make[any](nil).Value() != nil || unique.Make[any](1) == unique.Make[any]("1") {
		t.Error("handles of interfaces are not as their values")
	}
}

func TestWeak(t *testing.T) {
	type big [100]int
	p := &big{}
	w := weak.Make(p)
	if w.Value() != p || w != weak.Make(p) || w == weak.Make(&big{}) || w == (weak.Pointer[big]{}) {
		t.Error("weak pointers are not as their pointers")
	}
	if weak.Make[big](nil) != (weak.Pointer[big]{}) || weak.Make[big](nil).Value() != nil {
		t.Error("a weak nil is not nil")
	}
	runtime.KeepAlive(p)
	runtime.GC()
	if w.Value() != nil {
		t.Error("a weak pointer keeps its object alive")
	}
}

func TestComparable(t *testing.T) {
	seed := maphash.MakeSeed()
	a, again, b := ourmaphash.Comparable(seed, "a"), ourmaphash.Comparable(seed, "a"), ourmaphash.Comparable(seed, "b")
	if a != again || a == b {
		t.Error("hashes are not as their values")
	}
	var h maphash.Hash
	h.SetSeed(seed)
	ourmaphash.WriteComparable(&h, "a")
	if h.Sum64() != a {
		t.Error("what is written hashes otherwise")
	}
}
