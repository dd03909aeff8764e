// Package recorded checks the recorded cells of a session again, in their order, which resolves
// every name in them. Programs (interp/export) and second sessions (interp/replay) begin with this.
package recorded
