package interp

import (
	"errors"
	"reflect"
)

// Errors of the session's types reach compiled code in wrappers. These are Is and As of package errors that look into them.

// unwrapped returns the value that an error is, out of its wrapper.
func (s *inside) unwrapped(err error) any {
	v, _ := s.concrete(reflect.ValueOf(&err).Elem())
	if !v.IsValid() {
		return nil
	}
	return v.Interface()
}

// chain calls visit for err and what it wraps, until visit returns true.
func chainOf(err error, visit func(error) bool) bool {
	if err == nil {
		return false
	}
	if visit(err) {
		return true
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			if chainOf(e, visit) {
				return true
			}
		}
		return false
	}
	return chainOf(errors.Unwrap(err), visit)
}

// errorsIs is errors.Is.
func (s *inside) errorsIs(err, target error) bool {
	if err == nil || target == nil {
		return err == target
	}
	want := s.unwrapped(target)
	comparable := reflect.TypeOf(want).Comparable()
	return chainOf(err, func(e error) bool {
		if comparable && s.unwrapped(e) == want {
			return true
		}
		is, ok := e.(interface{ Is(error) bool })
		return ok && is.Is(target)
	})
}

// errorsAs is errors.As.
func (s *inside) errorsAs(err error, target any) bool {
	p := reflect.ValueOf(target)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		panic("errors: target must be a non-nil pointer")
	}
	want := p.Elem()
	return chainOf(err, func(e error) bool {
		if v := reflect.ValueOf(s.unwrapped(e)); v.Type() == want.Type() {
			want.Set(v)
			return true
		}
		if want.Kind() == reflect.Interface && reflect.TypeOf(e).Implements(want.Type()) {
			want.Set(reflect.ValueOf(e))
			return true
		}
		as, ok := e.(interface{ As(any) bool })
		return ok && as.As(target)
	})
}
