package inband

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Describe says the value of a control and how to change it, where no widget is shown.
func (c Control) Describe() string {
	set := func(value any) string { return fmt.Sprintf("display.Set(%q, %v)", c.ID, value) }
	switch value := c.Value.(type) {
	case float64:
		next := value + c.Step
		if next > c.Max {
			next = c.Min
		}
		return fmt.Sprintf("%s: %v of %v to %v; %s sets it", c.Name, value, c.Min, c.Max, set(next))
	case bool:
		return fmt.Sprintf("%s: %v; %s sets it", c.Name, value, set(!value))
	case string:
		if c.Kind == Text || len(c.Options) == 0 {
			return fmt.Sprintf("%s: %q; %s sets it", c.Name, value, set(`"text"`))
		}
		next := c.Options[(slices.Index(c.Options, value)+1)%len(c.Options)]
		return fmt.Sprintf("%s: %v of %s; %s sets it", c.Name, value, strings.Join(c.Options, ", "), set(strconv.Quote(next)))
	}
	return fmt.Sprintf("%s: a button; display.Run(%q) runs its function", c.Name, c.ID)
}
