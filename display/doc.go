// Package display shows rich output: HTML, pictures, formulas and progress bars. Cells can use it
// without an import statement, and can call Display without the package name. A notebook shows the
// richest form that it supports; a terminal and a pipe show the plain text.
//
//	display.HTML("<b>done</b>")              // the last value of a cell is shown in its rich form
//	Display(display.Markdown("* an item"))   // Display shows a value anywhere else in a cell
//
// The functions that return a Data, the interfaces that values implement to be shown in rich form,
// and their names are those of the Go kernel gophernotes, so that its notebooks run. Update, Clear,
// Progress, a bar that changes in place, and widgets exist only here.
//
// A [Widget] is a variable that the user sets in the notebook, on all ranks. [Interact] runs a
// function of widgets whenever one changes:
//
//	display.Interact(func(n int) *chart.Chart { … }, display.Slider("n", 8, 1, 64))
//
// Output that several ranks display identically is shown once, like text.
package display
