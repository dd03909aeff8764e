package run

import (
	"cmp"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/faults"
)

// helpers returns the functions by name.
func (rt *Runtime) helpers() map[contract.Helper]any {
	table := map[contract.Helper]any{
		contract.Bind:     rt.bind,
		contract.Show:     rt.show,
		contract.Describe: rt.Shown.Describe,
		contract.Render:   rt.Shown.Render,

		contract.Assert:       rt.Natives.Assert,
		contract.Implements:   rt.Natives.Implements,
		contract.FailAssert:   rt.Natives.FailAssert,
		contract.IsNil:        rt.Natives.IsNil,
		contract.ReceiverHeld: rt.Natives.ReceiverHeld,
		contract.Equal:        rt.Natives.Equal,
		contract.Holds:        rt.Natives.Holds,
		contract.Same:         func(a, b any) bool { return a == b },

		contract.Native:         rt.Natives.Native,
		contract.Unbox:          rt.Natives.Unbox,
		contract.Hold:           rt.Natives.Hold,
		contract.Method:         rt.Natives.AddMethod,
		contract.Implementation: rt.Natives.AddImplementation,

		contract.NewDefers: rt.Stacks.NewDefers,
		contract.Recover:   rt.Stacks.Recover,
		contract.Forward:   rt.Stacks.Forward,
		contract.NotNil:    rt.Natives.NotNil,
		contract.Go:        rt.Go,
		contract.NewSelect: rt.NewSelect,
		contract.Spin:      func() {},

		contract.Lock:        rt.Lock,
		contract.RLock:       rt.RLock,
		contract.Wait:        rt.Wait,
		contract.WaitGo:      rt.WaitGo,
		contract.CondWait:    rt.CondWait,
		contract.CmdRun:      rt.CmdRun,
		contract.CmdWait:     rt.CmdWait,
		contract.CmdOutput:   rt.CmdOutput,
		contract.CmdCombined: rt.CmdCombined,

		contract.UnsafePointer:    unsafePointer,
		contract.UnsafeOfUintptr:  unsafeOfUintptr,
		contract.UnsafeUintptr:    unsafeUintptr,
		contract.UnsafeAdd:        unsafeAdd,
		contract.UnsafeSlice:      unsafeSlice,
		contract.UnsafeSliceData:  unsafeSliceData,
		contract.UnsafeString:     unsafeString,
		contract.UnsafeStringData: unsafeStringData,

		contract.LoggerAt: rt.logger,

		contract.Enter: func(string, int, bool) {}, // what yaegi takes for it
		contract.Leave: func(int) {},

		contract.StopAt: func(int, ...any) {},

		contract.Code:    func(string, int) {},
		contract.Pointer: rt.Stacks.Pointer,

		contract.ShiftCount:     faults.ShiftCount,
		contract.Misused:        faults.Misused,
		contract.Room:           rt.Limits.Room,
		contract.Runes:          runesOf,
		contract.Zero:           zero,
		contract.Clear:          func(x any) { reflect.ValueOf(x).Clear() },
		contract.Print:          printArgs,
		contract.Println:        printlnArgs,
		contract.InterfaceWords: rt.interfaceWords,
	}
	addOrdered[int](table)
	addOrdered[int8](table)
	addOrdered[int16](table)
	addOrdered[int32](table)
	addOrdered[int64](table)
	addOrdered[uint](table)
	addOrdered[uint8](table)
	addOrdered[uint16](table)
	addOrdered[uint32](table)
	addOrdered[uint64](table)
	addOrdered[uintptr](table)
	addOrdered[float32](table)
	addOrdered[float64](table)
	addOrdered[string](table)
	return table
}

// addOrdered adds min and max for a type.
func addOrdered[T cmp.Ordered](table map[contract.Helper]any) {
	name := reflect.TypeFor[T]().Name()
	table[contract.Ordered("min", name)] = func(a, b T) T { return min(a, b) }
	table[contract.Ordered("max", name)] = func(a, b T) T { return max(a, b) }
}

// show stores the values of the cell's last expression.
func (rt *Runtime) show(pointers ...any) {
	rt.host.Showing()
	rt.Shown.Show(pointers...)
}

// exports is the package of the helpers.
func (rt *Runtime) exports() contract.Exports {
	table := map[string]reflect.Value{}
	for name, function := range rt.helpers() {
		table[string(name)] = reflect.ValueOf(function)
	}
	return contract.Exports{contract.RuntimePath + "/runtime": table}
}
