package symmemtest

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem"
)

// Before Init, functions that need a world return an error that says so, and the others work or
// refuse their arguments. This process has no world.
func TestWithoutWorld(t *testing.T) {
	needed := 0
	for _, o := range operations() {
		if o.method {
			continue
		}
		args := make([]reflect.Value, o.f.Type().NumIn())
		for i := range args {
			args[i] = reflect.Zero(o.f.Type().In(i))
		}
		err := symmem.Maybe(func() {
			if o.f.Type().IsVariadic() {
				o.f.CallSlice(args)
			} else {
				o.f.Call(args)
			}
		})
		var refused *symmem.Error
		if errors.As(err, &refused) {
			if refused.Kind != symmem.KindMisuse || refused.Rank != -1 || refused.Hint == "" {
				t.Errorf("%s: %#v", o.name, refused)
			}
			if strings.Contains(refused.Msg, "no world") {
				needed++
			}
		}
	}
	if needed < 50 {
		t.Errorf("%d functions say that they need a world", needed)
	}
}

// Init refuses every invalid field of Config, and leaves no world behind.
func TestInitMisuse(t *testing.T) {
	typ := reflect.TypeFor[symmem.Config]()
	for i := range typ.NumField() {
		var bad []any
		switch typ.Field(i).Type.Kind() {
		case reflect.String:
			bad = []any{"nonsense", "\x00"}
		case reflect.Int:
			bad = []any{-1, math.MinInt}
		}
		for _, value := range bad {
			config := symmem.Config{Device: "cpu"}
			reflect.ValueOf(&config).Elem().Field(i).Set(reflect.ValueOf(value))
			rt, err := symmem.Init(config)
			var refused *symmem.Error
			switch {
			case err == nil:
				t.Errorf("%s %v: accepted", typ.Field(i).Name, value)
				rt.Close()
			case !errors.As(err, &refused) || refused.Hint == "":
				t.Errorf("%s %v: %#v", typ.Field(i).Name, value, err)
			}
		}
	}
	if err := symmem.Maybe(func() { symmem.Rank() }); err == nil {
		t.Errorf("a refused Init leaves a world behind")
	}
}
