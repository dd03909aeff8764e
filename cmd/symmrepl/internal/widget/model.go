package widget

import (
	"math"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
)

// Content is the content of a message.
type Content = notebook.Content

// model is an object that front ends have: its state by names of ipywidgets.
type model struct {
	comm    string
	name    string // _model_name
	module  string
	version string
	state   Content
	of      *Control // nil of a box and of an output area
}

const (
	controls        = "@jupyter-widgets/controls"
	controlsVersion = "2.0.0"
	output          = "@jupyter-widgets/output"
	outputVersion   = "1.0.0"
)

// newModel returns a model of a class, such as IntSlider, with the state that all models have and
// state.
func newModel(comm, module, version, class string, state Content) *model {
	state["_dom_classes"] = []string{}
	state["_model_module"], state["_model_module_version"], state["_model_name"] = module, version, class+"Model"
	state["_view_module"], state["_view_module_version"], state["_view_name"] = module, version, class+"View"
	state["_view_count"], state["layout"] = nil, nil
	return &model{comm: comm, name: class + "Model", module: module, version: version, state: state}
}

// box returns the model of models one below another.
func box(comm string, of []*model) *model {
	children := []string{}
	for _, m := range of {
		children = append(children, "IPY_MODEL_"+m.comm)
	}
	return newModel(comm, controls, controlsVersion, "VBox", Content{"box_style": "", "children": children})
}

// area returns the model of an output area.
func area(comm string) *model {
	return newModel(comm, output, outputVersion, "Output", Content{"msg_id": "", "outputs": []Content{}})
}

// modelOf returns the model of a control.
func modelOf(comm string, c session.Control) *model {
	class, state := "", Content{"description": c.Name, "disabled": false, "style": nil}
	switch c.Kind {
	case inband.Slider:
		class = "FloatSlider"
		state["readout_format"] = ".6~g"
		if whole(c.Min) && whole(c.Max) && whole(c.Step) {
			class = "IntSlider"
			state["readout_format"] = "d"
		}
		state["min"], state["max"], state["step"] = c.Min, c.Max, c.Step
		state["continuous_update"], state["orientation"], state["readout"], state["behavior"] = true, "horizontal", true, "drag-tap"
	case inband.Dropdown:
		class = "Dropdown"
		state["_options_labels"] = c.Options
	case inband.Checkbox:
		class = "Checkbox"
		state["indent"] = true
	case inband.Text:
		class = "Text"
		state["continuous_update"], state["placeholder"] = false, ""
	case inband.Button:
		class = "Button"
		state["button_style"], state["icon"] = "", ""
	}
	if c.Kind != inband.Button {
		state["description_allow_html"] = false
		state[valueKey(c)] = valueState(c, c.Value)
	}
	return newModel(comm, controls, controlsVersion, class, state)
}

func whole(x float64) bool { return x == math.Trunc(x) }

// valueKey names the part of a control's state that is its value.
func valueKey(c session.Control) string {
	if c.Kind == inband.Dropdown {
		return "index"
	}
	return "value"
}

// valueState returns a value as that part of the state.
func valueState(c session.Control, value any) any {
	if option, is := value.(string); is && c.Kind == inband.Dropdown {
		return float64(slices.Index(c.Options, option)) // as JSON has it
	}
	return value
}

// open returns the content of comm_open.
func (m *model) open() Content {
	return Content{"comm_id": m.comm, "target_name": target, "data": Content{"state": m.state, "buffer_paths": []any{}}}
}

// update returns the content of comm_msg that changes parts of the state.
func (m *model) update(method string, state Content) Content {
	return Content{"comm_id": m.comm, "data": Content{"method": method, "state": state, "buffer_paths": []any{}}}
}
