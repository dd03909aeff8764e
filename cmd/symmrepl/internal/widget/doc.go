// Package widget shows panels of widgets in notebooks: it speaks the protocol of ipywidgets' front
// end.
//
// A [Manager] holds the models that front ends have: for each panel the models of its controls, of
// an output area, and of the box around them. It announces them by comm_open, changes them by
// comm_msg, and takes the messages of front ends; see [Manager.Receive] for the kinds of messages.
// The models and their state are those of ipywidgets 8
// (https://github.com/jupyter-widgets/ipywidgets, packages/schema): version 2.0.0 of
// @jupyter-widgets/controls, 1.0.0 of @jupyter-widgets/output, 2.1.0 of the messages.
//
// A [Manager] runs nothing. It says which control has changed; the kernel then changes the widget
// on its ranks, and publishes the output of that change through an [Area].
package widget
