// Package view draws a timeline.
//
// [HTML] is for notebooks: a picture with zoom, tips and arrows that a script draws from the
// timeline, in the colours of the notebook's theme, and below it the summary as tables. Nothing is
// loaded over a network. Where a notebook runs no scripts, as one that is not trusted, the same HTML
// shows a still picture in the script's place. [SVG] is that picture.
//
// Names of kernels, lines and groups are text of ranks: they are escaped in SVG and HTML, and the
// script only ever uses them as text.
package view
