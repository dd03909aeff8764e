package inband

// PanelType is the MIME type of a form that holds a [Panel]. Front ends that have widgets show the
// panel in place of the other forms.
const PanelType = "application/vnd.symmrepl.panel+json"

// Panel is one or more controls, and a place below them for the output of their function.
type Panel struct {
	ID       string    `json:"id"` // names it on the ranks that have it; equal on ranks that have made equal panels
	Controls []Control `json:"controls"`
	// Run lists the functions that the front end runs once the cell has ended, in this order.
	Run []Function `json:"run,omitempty"`
	// Set means that the panel is not shown: the values of Controls have changed.
	Set bool `json:"set,omitempty"`
}

// Function is the function of a panel: display.Run runs it.
type Function struct {
	ID     string `json:"id"` // of the panel
	Result bool   `json:"result,omitempty"`
}

// Control is a widget that a user changes. display.Set changes it by its ID.
type Control struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"` // one of the constants below
	Name    string   `json:"name"` // what the user reads
	Min     float64  `json:"min,omitempty"`
	Max     float64  `json:"max,omitempty"`
	Step    float64  `json:"step,omitempty"`
	Options []string `json:"options,omitempty"`
	// Value is a float64 of a Slider, a bool of a Checkbox, a string of a Text, and one of the
	// Options of a Dropdown. A Button has none.
	Value any `json:"value,omitempty"`
	// Function is the function of a Button.
	Function Function `json:"function,omitzero"`
}

// The kinds of controls.
const (
	Slider   = "slider"
	Dropdown = "dropdown"
	Checkbox = "checkbox"
	Text     = "text"
	Button   = "button"
)
