// Package show writes tensors for people: as text ([Preview]), and as a table with statistics and a heat
// map for notebooks ([HTML]). It knows a tensor by its type and shape, and asks for the elements that it
// shows: of a large tensor it reads the ends, and lets the device calculate the rest.
package show
