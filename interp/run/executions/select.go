package executions

import "reflect"

// Selection is one execution of a select statement.
type Selection struct {
	of    *Executions
	cases []reflect.SelectCase
	into  [][]any // where each case stores its received value: pointers to the value and to ok
}

func (es *Executions) NewSelect() *Selection { return &Selection{of: es} }

// Default adds the default case.
func (s *Selection) Default() { s.add(reflect.SelectCase{Dir: reflect.SelectDefault}) }

// Send adds a case that sends; it gets pointers to the channel and the value.
func (s *Selection) Send(channel, value any) {
	s.add(reflect.SelectCase{Dir: reflect.SelectSend, Chan: reflect.ValueOf(channel).Elem(), Send: reflect.ValueOf(value).Elem()})
}

// Recv adds a case that receives; it gets pointers to the channel and to the variables for the
// results.
func (s *Selection) Recv(channel any, into ...any) {
	s.add(reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(channel).Elem()}, into...)
}

func (s *Selection) add(c reflect.SelectCase, into ...any) {
	s.cases = append(s.cases, c)
	s.into = append(s.into, into)
}

// Do waits until a case can proceed and returns the case's number, from 0, or -1 if the cell is
// stopped.
func (s *Selection) Do() int {
	stopped := reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.of.context().Done())}
	i, v, ok := reflect.Select(append(s.cases, stopped))
	if i == len(s.cases) {
		return -1
	}
	for j, p := range s.into[i] {
		if j == 0 {
			reflect.ValueOf(p).Elem().Set(v)
		} else {
			*p.(*bool) = ok
		}
	}
	return i
}
