package symmemtest

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/symmem"
)

// elsewhere holds objects of other worlds of this process, and freed objects.
type elsewhere struct {
	world   *symmem.Runtime // a world of this rank alone
	foreign objects         // objects of world
	closed  objects         // objects of a closed world
	joining objects         // objects of a world that has not joined
	closing *symmem.Runtime // another world like that, for operations that close worlds
	freed   objects         // freed objects of the world of all ranks, once there is one
}

// objects holds one object of each type that symmem makes.
type objects struct {
	rt     *symmem.Runtime
	local  *symmem.Tensor
	tensor *symmem.Tensor // symmetric
	handle *symmem.Handle
	group  *symmem.Group
	stream *symmem.Stream
	event  *symmem.Event
	work   *symmem.Work
	graph  *symmem.Graph
	kernel *symmem.Kernel
	tile   *symmem.Tile
	comm   *symmem.DeviceComm
	window *symmem.DeviceWindow
	pool   *symmem.MemPool

	tokens  *symmem.TokenSwitch
	routing *symmem.TokenRouting
	sending *symmem.TokenSwitch // a switch that waits for Complete
	sent    *symmem.Dispatched
}

const (
	kernelName = "misused"
	kernelText = `extern "C" __global__ void misused(float* x, int n, symm::Handle h) {}`
)

// tokensConfig returns the configuration of switches that accept the tensors of fixtures.
func tokensConfig(ranks int) symmem.TokenSwitchConfig {
	return symmem.TokenSwitchConfig{Mode: "high_throughput", Layout: "flat", Experts: ranks, TopK: 1, MaxTokens: 2, MaxRecv: 8,
		Hidden: 4, DType: symmem.F32}
}

// makeObjects makes objects of a world, collectively.
func makeObjects(rt *symmem.Runtime) objects {
	ranks := rt.Group().Ranks()
	o := objects{rt: rt, local: rt.Local(symmem.F32, 4, 2), tensor: rt.Empty(symmem.F32, 4, 2), group: rt.NewGroup(ranks...),
		stream: rt.NewStream(), event: rt.NewEvent(), kernel: rt.Compile(kernelText)}
	o.handle = rt.Rendezvous(o.tensor)
	o.window, o.comm = rt.Window(o.tensor), rt.DevComm(symmem.DevReqs{LsaBarriers: 1, Resources: []int{64, 64}})
	o.pool = rt.GetMemPool(o.group)
	o.tile = o.local.Tile(0, 1, 0, 1)
	topk, x, weights := rt.Local(symmem.I64, 2, 1), rt.Local(symmem.F32, 2, 4), rt.Local(symmem.F32, 2, 1)
	o.tokens, o.sending = rt.NewTokenSwitch(tokensConfig(len(ranks))), rt.NewTokenSwitch(tokensConfig(len(ranks)))
	o.routing = o.tokens.Routing(topk)
	o.tokens.Dispatch(o.routing, x, weights)
	o.sent = o.sending.DispatchSend(o.sending.Routing(topk), x, weights)
	o.event.Record()
	o.work = rt.Async(func() { o.local.Fill(1) })
	o.graph = rt.Capture(func() { o.local.Fill(1) })
	rt.Synchronize() // the event is reached
	return o
}

// free frees the objects that can be freed.
func (o *objects) free() {
	for _, free := range []func(){o.comm.Free, o.tokens.Free, o.sending.Free, o.graph.Free, o.local.Free, o.tensor.Free,
		o.group.Free, o.stream.Free, o.event.Free} {
		symmem.Maybe(free) // the operation may have freed the object
	}
}

// makeElsewhere makes the other worlds, before the world of all ranks.
func makeElsewhere(device string, index int) (*elsewhere, error) {
	config := symmem.Config{Device: device, Index: index}
	closed, err := symmem.Init(config)
	if err != nil {
		return nil, err
	}
	o := &elsewhere{closed: makeObjects(closed)}
	if err := closed.Close(); err != nil {
		return nil, err
	}
	if o.world, err = symmem.Init(config); err != nil {
		return nil, err
	}
	o.foreign = makeObjects(o.world)
	config.Joining = true
	joining, err := symmem.Init(config)
	if err != nil {
		return nil, err
	}
	if o.closing, err = symmem.Init(config); err != nil {
		return nil, err
	}
	o.joining = objects{rt: joining, local: joining.Local(symmem.F32, 4, 2), group: joining.Group(), stream: joining.NewStream(),
		event: joining.NewEvent(), kernel: joining.Compile(kernelText)}
	return o, nil
}

// fixtures are values for the arguments of operations.
type fixtures struct {
	t *T
	objects
	values  map[reflect.Type][]any
	symm    []*symmem.Tensor // symmetric, for operations that free
	peer    *symmem.Tensor   // a view of another rank's memory
	storage *symmem.Tensor   // of a type without arithmetic
	none    *symmem.Tensor   // without elements
	unmet   *symmem.Tensor   // symmetric, not rendezvoused
	later   *symmem.Event    // not recorded
	own     *symmem.Group    // of this rank alone
	other   *symmem.Group    // of another rank alone
	grouped *symmem.Tensor   // symmetric, of a group of all ranks
	owned   *symmem.Tensor   // symmetric, in group own
	path    string           // of a file that has one tensor, named "w"
}

// fixtures makes the values, collectively.
func (t *T) fixtures() *fixtures {
	if t.elsewhere.freed.rt == nil {
		t.elsewhere.freed = makeObjects(t.rt)
		t.elsewhere.freed.free()
	}
	f := &fixtures{t: t, objects: makeObjects(t.rt), later: symmem.NewEvent()}
	second, unmet := symmem.Empty(symmem.F32, 4, 2), symmem.Empty(symmem.F32, 4, 2)
	symmem.Rendezvous(second)
	f.own, f.other = symmem.NewGroup(t.rank), symmem.NewGroup((t.rank+1)%t.size)
	f.grouped, f.owned = f.group.Empty(symmem.F32, 4, 2), f.own.Empty(symmem.F32, 4, 2)
	symmem.Rendezvous(f.grouped)
	symmem.Rendezvous(f.owned)
	f.symm = []*symmem.Tensor{second, unmet, f.grouped, f.owned}
	f.unmet = unmet
	f.peer = f.handle.GetRemoteTensor(t.size - 1)
	f.storage, f.none = symmem.Local(symmem.F8E4M3, 4, 2), symmem.Local(symmem.F32, 0, 2)
	local := func(d symmem.DType, shape ...int) *symmem.Tensor { return symmem.Local(d, shape...) }
	part := local(symmem.F32, 2, 2)
	f.path = filepath.Join(os.Getenv(dirVariable), fmt.Sprintf("misuse%d.safetensors", t.rank))
	part.Save(f.path, "w")
	tensors := []any{f.tensor, f.local, second, local(symmem.F32, 8, 2), part, local(symmem.I64, 2), local(symmem.I64, 2, 2),
		local(symmem.I64, 2, 2), local(symmem.U32, 4), local(symmem.F32, 8, 1), local(symmem.F32, 2, 4), local(symmem.I64, 2, 1),
		local(symmem.F32, 2, 1), local(symmem.F32, 8, 4)}
	corner := f.tensor.Tile(0, 1, 0, 1)
	f.values = map[reflect.Type][]any{
		reflect.TypeFor[*symmem.Tensor]():       tensors,
		reflect.TypeFor[*symmem.Handle]():       {f.handle},
		reflect.TypeFor[*symmem.Group]():        {f.group},
		reflect.TypeFor[*symmem.Stream]():       {f.stream},
		reflect.TypeFor[*symmem.Event]():        {f.event},
		reflect.TypeFor[*symmem.Work]():         {f.work},
		reflect.TypeFor[*symmem.Graph]():        {f.graph},
		reflect.TypeFor[*symmem.Timeline]():     {symmem.Trace(func() {})},
		reflect.TypeFor[*symmem.Kernel]():       {f.kernel},
		reflect.TypeFor[*symmem.Tile]():         {corner, f.tile},
		reflect.TypeFor[*symmem.Runtime]():      {t.rt},
		reflect.TypeFor[*symmem.DeviceComm]():   {f.comm},
		reflect.TypeFor[*symmem.DeviceWindow](): {f.window},
		reflect.TypeFor[*symmem.MemPool]():      {f.pool},
		reflect.TypeFor[*symmem.TokenSwitch]():  {f.tokens, f.sending},
		reflect.TypeFor[*symmem.TokenRouting](): {f.routing},
		reflect.TypeFor[*symmem.Dispatched]():   {f.sent},
		reflect.TypeFor[*symmem.Error]():        {&symmem.Error{}},
		reflect.TypeFor[[]*symmem.Tensor]():     {[]*symmem.Tensor{part}, []*symmem.Tensor{local(symmem.F32, 8, 2)}},
		reflect.TypeFor[[]*symmem.Tile]():       {[]*symmem.Tile{corner}},
		reflect.TypeFor[symmem.DType]():         {symmem.F32},
		reflect.TypeFor[symmem.GridSize]():      {symmem.Grid(1)},
		reflect.TypeFor[symmem.BlockSize]():     {symmem.Block(1)},
		reflect.TypeFor[int]():                  {0, 1, 8},
		reflect.TypeFor[uint64]():               {uint64(0)},
		reflect.TypeFor[uintptr]():              {uintptr(0)}, // no communicator is right on all devices
		reflect.TypeFor[int64]():                {int64(0)},
		reflect.TypeFor[bool]():                 {false},
		reflect.TypeFor[float64]():              {0.5},
		reflect.TypeFor[string]():               {"sum", "==", "0 1us once", symmem.GetBackend(), kernelName, kernelText, f.path, "-x0", "sum(x0)", "world"},
		reflect.TypeFor[[]int]():                {[]int(nil), []int{0}, []int{0, 1}},
		reflect.TypeFor[func()]():               {func() {}},
		reflect.TypeFor[any]():                  {1.0, f.tensor},
		reflect.TypeFor[context.Context]():      {context.Background()},
		reflect.TypeFor[time.Duration]():        {time.Second},

		reflect.TypeFor[symmem.TokenSwitchConfig](): {tokensConfig(t.size)},
	}
	return f
}

func (f *fixtures) free() {
	for _, t := range f.symm {
		symmem.Maybe(t.Free)
	}
	f.objects.free()
	symmem.Maybe(f.own.Free)
	for _, name := range []string{"sum", "nonsense"} { // of NewNamedGroup
		symmem.Maybe(func() { symmem.GroupNamed(name).Free() })
	}
	symmem.SetSignalPadSize(defaultPad)
}

const defaultPad = 9216

// good lists right values of a type.
func (f *fixtures) good(typ reflect.Type) (list []reflect.Value) {
	for _, v := range f.values[typ] {
		list = append(list, reflect.ValueOf(v))
	}
	if len(list) == 0 && typ.Kind() == reflect.Struct && typ.PkgPath() != "" {
		list = append(list, reflect.Zero(typ)) // data
	}
	if len(list) == 0 && typ.Kind() != reflect.Pointer && typ.Kind() != reflect.Interface && typ.Kind() != reflect.Func && typ.PkgPath() != "" {
		list = append(list, reflect.Zero(typ))
	}
	return list
}

// goodLists lists right values of a variadic parameter.
func (f *fixtures) goodLists(typ reflect.Type) []reflect.Value {
	switch typ.Elem() {
	case reflect.TypeFor[symmem.Option]():
		return []reflect.Value{reflect.ValueOf([]symmem.Option{symmem.Timeout(pace.Unhurried(100 * time.Millisecond))}), reflect.ValueOf([]symmem.Option{})}
	case reflect.TypeFor[any]():
		return []reflect.Value{reflect.ValueOf([]any{f.local, 1, f.handle}), reflect.ValueOf([]any{"w"}),
			reflect.ValueOf([]any{f.local}), reflect.ValueOf([]any{0, 1})}
	case reflect.TypeFor[int]():
		return []reflect.Value{reflect.ValueOf([]int{0, 1}), reflect.ValueOf([]int{4, 2}), reflect.ValueOf([]int{8})}
	case reflect.TypeFor[string](): // names of template instances
		return []reflect.Value{reflect.ValueOf([]string{}), reflect.ValueOf([]string{"x"})} // or of parameters
	case reflect.TypeFor[*symmem.Tensor]():
		return []reflect.Value{reflect.ValueOf([]*symmem.Tensor{f.local, f.local})}
	case reflect.TypeFor[func()](): // other codes
		return []reflect.Value{reflect.ValueOf([]func(){})}
	case reflect.TypeFor[float64](): // tolerances
		return []reflect.Value{reflect.ValueOf([]float64{}), reflect.ValueOf([]float64{1e-5})}
	}
	return nil
}

// bad lists the misuses of a type.
func (f *fixtures) bad(typ reflect.Type) (list []misused) {
	always := func(name string, v any) { list = append(list, misused{name, valueOf(v, typ), true}) }
	perhaps := func(name string, v any) { list = append(list, misused{name, valueOf(v, typ), false}) }
	o := f.t.elsewhere
	switch typ {
	case reflect.TypeFor[*symmem.Tensor]():
		always("nil", (*symmem.Tensor)(nil))
		always("zero", &symmem.Tensor{})
		always("freed", o.freed.local)
		always("freed symmetric", o.freed.tensor)
		always("of a closed world", o.closed.local)
		always("of a closed world, symmetric", o.closed.tensor)
		always("of another world", o.foreign.local)
		always("of another world, symmetric", o.foreign.tensor)
		perhaps("storage", f.storage)
		perhaps("without elements", f.none)
		perhaps("without dimensions", f.local.Slice(0, 1).Slice(0, 1).View(2).Slice(0, 1).View())
		perhaps("not rendezvoused", f.unmet)
		perhaps("a peer's", f.peer)
		perhaps("of a group", f.grouped)
		perhaps("of a group of this rank", f.owned)
	case reflect.TypeFor[*symmem.Handle]():
		always("nil", (*symmem.Handle)(nil))
		always("zero", &symmem.Handle{})
		always("freed", o.freed.handle)
		always("of a closed world", o.closed.handle)
		always("of another world", o.foreign.handle)
	case reflect.TypeFor[*symmem.DeviceComm]():
		always("nil", (*symmem.DeviceComm)(nil))
		always("zero", &symmem.DeviceComm{})
		always("freed", o.freed.comm)
		always("of a closed world", o.closed.comm)
	case reflect.TypeFor[*symmem.DeviceWindow]():
		always("nil", (*symmem.DeviceWindow)(nil))
		always("zero", &symmem.DeviceWindow{})
		always("freed", o.freed.window)
		always("of a closed world", o.closed.window)
	case reflect.TypeFor[*symmem.MemPool]():
		always("nil", (*symmem.MemPool)(nil))
		always("zero", &symmem.MemPool{})
		always("freed", o.freed.pool)
		always("of a closed world", o.closed.pool)
		always("of another world", o.foreign.pool)
	case reflect.TypeFor[*symmem.TokenSwitch]():
		always("nil", (*symmem.TokenSwitch)(nil))
		always("zero", &symmem.TokenSwitch{})
		always("freed", o.freed.tokens)
		always("of a closed world", o.closed.tokens)
	case reflect.TypeFor[*symmem.TokenRouting]():
		always("nil", (*symmem.TokenRouting)(nil))
		always("zero", &symmem.TokenRouting{})
		always("of a freed switch", o.freed.routing)
		always("of a closed world", o.closed.routing)
		always("of another world", o.foreign.routing)
	case reflect.TypeFor[*symmem.Dispatched]():
		always("nil", (*symmem.Dispatched)(nil))
		always("zero", &symmem.Dispatched{})
		always("of a freed switch", o.freed.sent)
		always("of a closed world", o.closed.sent)
		always("of another world", o.foreign.sent)
	case reflect.TypeFor[*symmem.Group]():
		always("nil", (*symmem.Group)(nil))
		always("zero", &symmem.Group{})
		always("freed", o.freed.group)
		always("of a closed world", o.closed.group)
		always("that has not joined", o.joining.group)
		always("of other ranks", f.other)
		perhaps("of this rank", f.own)
		perhaps("of all ranks", f.group)
	case reflect.TypeFor[*symmem.Stream]():
		always("nil", (*symmem.Stream)(nil))
		always("zero", &symmem.Stream{})
		always("freed", o.freed.stream)
		always("of a closed world", o.closed.stream)
	case reflect.TypeFor[*symmem.Event]():
		always("nil", (*symmem.Event)(nil))
		always("zero", &symmem.Event{})
		always("freed", o.freed.event)
		always("of a closed world", o.closed.event)
		perhaps("not recorded", f.later)
		always("of another world", o.foreign.event)
	case reflect.TypeFor[*symmem.Work]():
		always("nil", (*symmem.Work)(nil))
		always("zero", &symmem.Work{})
		always("of a closed world", o.closed.work)
		always("of another world", o.foreign.work)
	case reflect.TypeFor[*symmem.Graph]():
		always("nil", (*symmem.Graph)(nil))
		always("zero", &symmem.Graph{})
		always("freed", o.freed.graph)
		always("of a closed world", o.closed.graph)
	case reflect.TypeFor[*symmem.Timeline]():
		always("nil", (*symmem.Timeline)(nil))
		always("zero", &symmem.Timeline{})
	case reflect.TypeFor[*symmem.Kernel]():
		always("nil", (*symmem.Kernel)(nil))
		always("zero", &symmem.Kernel{})
		always("of a closed world", o.closed.kernel)
	case reflect.TypeFor[*symmem.Tile]():
		always("nil", (*symmem.Tile)(nil))
		always("zero", &symmem.Tile{})
		always("freed", o.freed.tile)
		always("of a closed world", o.closed.tile)
		always("of another world", o.foreign.tile)
	case reflect.TypeFor[*symmem.Runtime]():
		always("nil", (*symmem.Runtime)(nil))
		always("zero", &symmem.Runtime{})
		always("closed", o.closed.rt)
		perhaps("that has not joined", o.joining.rt)
	case reflect.TypeFor[*symmem.Error]():
		perhaps("nil", (*symmem.Error)(nil))
	case reflect.TypeFor[[]*symmem.Tensor]():
		for _, bad := range f.bad(typ.Elem()) {
			if bad.always {
				always("of one "+bad.name, []*symmem.Tensor{bad.value.Interface().(*symmem.Tensor)})
			}
		}
		always("empty", []*symmem.Tensor{})
		always("of 20", make([]*symmem.Tensor, 20))
	case reflect.TypeFor[[]*symmem.Tile]():
		for _, bad := range f.bad(typ.Elem()) {
			always("of one "+bad.name, []*symmem.Tile{bad.value.Interface().(*symmem.Tile)})
		}
		always("empty", []*symmem.Tile{})
		always("of 20", make([]*symmem.Tile, 20))
	case reflect.TypeFor[symmem.DType]():
		for _, d := range []symmem.DType{0, 99, 255} {
			always(fmt.Sprint(uint8(d)), d)
		}
	case reflect.TypeFor[symmem.GridSize]():
		for _, dims := range badSizes {
			always(fmt.Sprint(dims), symmem.Grid(dims...))
		}
		always("zero", symmem.GridSize{})
	case reflect.TypeFor[symmem.BlockSize]():
		for _, dims := range badSizes {
			always(fmt.Sprint(dims), symmem.Block(dims...))
		}
		always("zero", symmem.BlockSize{})
	case reflect.TypeFor[int]():
		for _, n := range badInts {
			always(fmt.Sprint(n), n)
		}
		perhaps("zero", 0)
		perhaps("a million", 1000000)
	case reflect.TypeFor[float64]():
		perhaps("NaN", math.NaN())
	case reflect.TypeFor[uint64]():
		perhaps("the largest", uint64(math.MaxUint64))
	case reflect.TypeFor[string]():
		always("empty", "")
		always("nonsense", "nonsense")
		always("binary", "\x00\xff")
	case reflect.TypeFor[[]int]():
		for _, n := range badInts {
			always(fmt.Sprintf("of %d", n), []int{n})
		}
		perhaps("of twice 0", []int{0, 0})
		perhaps("empty", []int{})
	case reflect.TypeFor[func()]():
		always("nil", (func())(nil))
	case reflect.TypeFor[any]():
		always("nil", nil)
		always("text", "text")
		always("of text", []string{"text"})
		always("a struct", struct{}{})
		always("a function", func() {})
		always("a channel", make(chan int))
		for _, bad := range f.bad(reflect.TypeFor[*symmem.Tensor]()) {
			if bad.always {
				always("tensor "+bad.name, bad.value.Interface())
			}
		}
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1, 0.5} {
			perhaps(fmt.Sprint(x), x)
		}
		for _, n := range badInts {
			perhaps(fmt.Sprint(n), n)
		}
	case reflect.TypeFor[context.Context]():
		always("nil", nil)
	case reflect.TypeFor[time.Duration]():
		always("zero", time.Duration(0))
		always("negative", time.Duration(-1))
	default:
		if v := f.good(typ); len(v) == 0 || v[0].Kind() == reflect.Pointer {
			f.t.Errorf("no misuses of type %v are known: add them to fixtures.bad", typ)
			return nil
		}
		list = append(list, misused{"zero", reflect.Zero(typ), false}) // data, which cannot be misused
	}
	return list
}

var (
	badInts  = []int{-1, math.MinInt, 1 << 62}
	badSizes = [][]int{{}, {0}, {-1}, {1 << 62}, {1, 1, 1, 1}, {1, 1, 0}, {1 << 31, 1 << 31, 1 << 31}}
)

// valueOf returns v as a value of a type, which may be an interface.
func valueOf(v any, typ reflect.Type) reflect.Value {
	x := reflect.New(typ).Elem()
	if v != nil {
		x.Set(reflect.ValueOf(v))
	}
	return x
}

// badLists lists the misuses of a variadic parameter. right is a right value for it.
func (f *fixtures) badLists(typ reflect.Type, right reflect.Value) (list []misused) {
	add := func(bad misused, values ...any) {
		s := reflect.MakeSlice(typ, 0, len(values))
		for _, v := range values {
			s = reflect.Append(s, valueOf(v, typ.Elem()))
		}
		list = append(list, misused{bad.name, s, bad.always})
	}
	switch typ.Elem() {
	case reflect.TypeFor[symmem.Option]():
		o := f.t.elsewhere
		add(misused{name: "nil", always: true}, nil)
		for _, sort := range []reflect.Type{reflect.TypeFor[*symmem.Group](), reflect.TypeFor[*symmem.Stream]()} {
			for _, bad := range f.bad(sort) {
				add(misused{name: fmt.Sprintf("%v %s", sort, bad.name), always: bad.always}, bad.value.Interface())
			}
		}
		add(misused{name: "a group of another world", always: true}, o.foreign.group)
		add(misused{name: "a stream of another world", always: true}, o.foreign.stream)
		for _, d := range []time.Duration{0, -1, math.MinInt64} {
			add(misused{name: fmt.Sprintf("Timeout(%d)", d), always: true}, symmem.Timeout(d))
		}
		for _, n := range badInts {
			add(misused{name: fmt.Sprintf("MajorAlign(%d)", n), always: true}, symmem.MajorAlign(n))
		}
		add(misused{name: "Via nonsense", always: true}, symmem.Via("nonsense"))
		for _, bad := range f.bad(reflect.TypeFor[*symmem.Tensor]()) {
			x := bad.value.Interface().(*symmem.Tensor)
			add(misused{name: "Scales " + bad.name, always: bad.always}, symmem.Scales(x, x))
		}
		add(misused{name: "TransposedB"}, symmem.TransposedB())
		add(misused{name: "CopyEngine"}, symmem.CopyEngine())
		add(misused{name: "AccumulateF32"}, symmem.AccumulateF32())
		add(misused{name: "SplitLastDim"}, symmem.SplitLastDim())
	case reflect.TypeFor[string](): // names of template instances
		for _, name := range []string{"", "nonsense", "f<", "none<int>"} {
			add(misused{name: fmt.Sprintf("%q", name), always: true}, name)
		}
	case reflect.TypeFor[*symmem.Tensor]():
		for _, bad := range f.bad(typ.Elem()) {
			add(bad, f.local, bad.value.Interface())
		}
		add(misused{name: "empty", always: true})
	case reflect.TypeFor[func()](): // other codes
		add(misused{name: "nil", always: true}, (func())(nil))
	case reflect.TypeFor[float64](): // tolerances
		add(misused{name: "negative", always: true}, -1.0)
		add(misused{name: "NaN", always: true}, 0.0, math.NaN())
		add(misused{name: "of three", always: true}, 0.0, 0.0, 0.0)
	case reflect.TypeFor[any]():
		var values []any
		for i := range right.Len() {
			values = append(values, right.Index(i).Interface())
		}
		for i := range values {
			for _, bad := range f.bad(typ.Elem()) {
				changed := append([]any(nil), values...)
				changed[i] = bad.value.Interface()
				bad.name = fmt.Sprintf("%d: %s", i, bad.name)
				add(bad, changed...)
			}
		}
		add(misused{name: "too few", always: true}, values[1:]...)
		add(misused{name: "too many", always: true}, append(values, 1)...)
	case reflect.TypeFor[int]():
		for _, n := range badInts {
			add(misused{name: fmt.Sprint(n), always: true}, n)
		}
		add(misused{name: "twice -1", always: true}, -1, -1)
		add(misused{name: "twice 1<<40", always: true}, 1<<40, 1<<40)
		add(misused{name: "1<<40", always: true}, 1<<40)
		add(misused{name: "twice 0"}, 0, 0)
		add(misused{name: "empty"})
	default:
		f.t.Errorf("no misuses of lists of %v are known: add them to fixtures.badLists", typ.Elem())
	}
	return list
}
