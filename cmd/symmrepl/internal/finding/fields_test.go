package finding

import (
	"reflect"
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// A finding of symmem and a finding of the session differ in the fields listed here and in no
// others. A field that is added to one type must be added to the other too.
func TestFindings(t *testing.T) {
	for _, c := range []struct {
		device, session reflect.Type
		dropped, added  []string
	}{
		{reflect.TypeFor[symmem.Finding](), reflect.TypeFor[session.Finding](), []string{"Address"},
			[]string{"Ranks", "Cell", "Name", "Also", "Allowed", "Again"}},
		{reflect.TypeFor[symmem.Access](), reflect.TypeFor[session.Access](), []string{"Caller", "Host"}, []string{"Ranks", "At", "Call"}},
	} {
		from, to := fieldsOf(c.device), fieldsOf(c.session)
		without := func(list, of []string) []string {
			return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(of, name) })
		}
		if dropped, added := without(from, to), without(to, from); !reflect.DeepEqual(dropped, c.dropped) ||
			!reflect.DeepEqual(added, c.added) {
			t.Errorf("%v lacks the fields %q of %v and adds %q", c.session, dropped, c.device, added)
		}
	}
}

func fieldsOf(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		names = append(names, f.Name)
	}
	return names
}
