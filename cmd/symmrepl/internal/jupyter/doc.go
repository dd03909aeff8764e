// Package jupyter is a Jupyter kernel: a console on a session whose entries are the cells of a
// notebook.
//
// It speaks version 5.5 of the messaging protocol
// (https://jupyter-client.readthedocs.io/en/stable/messaging.html). Cells run one after another on
// a separate goroutine; other requests are answered meanwhile. Interrupts and shutdown have their
// own channel.
//
// Output of ranks becomes stream messages, gathered for a moment so that many small prints become
// few messages. Values become the cell's result: as text folded by rank, and in their other forms.
// Each message must be signed with the connection's key, and each signature is valid once.
package jupyter
