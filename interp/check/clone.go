package check

import (
	"go/ast"
	"reflect"
)

// cloneSyntax returns a deep copy of a node. If replace returns a node for another, it replaces
// that node in the copy.
func cloneSyntax[N ast.Node](n N, replace func(ast.Node) ast.Node) N {
	return cloneValue(reflect.ValueOf(n), replace).Interface().(N)
}

func cloneValue(v reflect.Value, replace func(ast.Node) ast.Node) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return cloneValue(v.Elem(), replace)
	case reflect.Pointer:
		n, isNode := v.Interface().(ast.Node)
		if v.IsNil() || !isNode {
			return v // an ast.Object or ast.Scope, which cells do not have
		}
		if r := replace(n); r != nil {
			return reflect.ValueOf(r)
		}
		c := reflect.New(v.Type().Elem())
		for i := range c.Elem().NumField() {
			if f := v.Elem().Field(i); f.Kind() == reflect.Interface && f.IsNil() {
				continue
			}
			c.Elem().Field(i).Set(cloneValue(v.Elem().Field(i), replace))
		}
		return c
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.Index(i).Set(cloneValue(v.Index(i), replace))
		}
		return c
	}
	return v
}
