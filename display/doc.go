// Package display shows what is more than text: cells import it as display, without being asked to, and may call Display without naming the
// package. A notebook shows the richest form that it knows; a terminal and a pipe show the plain text.
//
//	display.HTML("<b>done</b>")              // the last value of a cell is shown in its rich form
//	Display(display.Markdown("* an item"))   // anywhere else Display shows it
//
// The functions that make a Data, the interfaces by which a value says how it is shown, and their names are those of the Go kernel gophernotes, so
// that its notebooks run. Beyond them are Update and Clear, and Progress, a line that changes in place.
//
// Ranks that display the same are shown once, as with text.
package display
