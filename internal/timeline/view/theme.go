package view

// Theme are the colours of a still picture.
type Theme struct{ Paper, Ink, Grid string }

// The themes are those of JupyterLab.
var (
	Light = Theme{Paper: "#ffffff", Ink: "#212121", Grid: "#e0e0e0"}
	Dark  = Theme{Paper: "#111111", Ink: "#e0e0e0", Grid: "#333333"}
)

// The colours of marks have a contrast of at least 3 : 1 with the paper of both themes. Those of
// names repeat when they are used up, which is after as many as the legend lists, and differ as far as
// that permits; waits have one of their own.
const waits = "#808080"

var colours = []string{"#2a9d4a", "#3a6ea5", "#c27f12", "#b5406b", "#7a5fb0", "#0f8b8d", "#a0622d", "#c0392b",
	"#fc00fc", "#9c00fc", "#2448fc", "#5490fc", "#d86cc0", "#fc5460", "#486c24", "#c000b4",
	"#a86cfc", "#fc009c", "#9c84c0", "#c08484", "#6c60fc", "#848424", "#6c6060", "#009ccc"}

// colour returns the colour of a mark.
func (sc *scene) colour(m *mark, names map[string]int) string {
	if m.shape == wait {
		return waits
	}
	return colours[names[m.name]%len(colours)]
}

// numbers are the places of the names.
func (sc *scene) numbers() map[string]int {
	names := map[string]int{}
	for i, name := range sc.names {
		names[name] = i
	}
	return names
}
