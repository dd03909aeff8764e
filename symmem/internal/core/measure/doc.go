// Package measure evaluates measured times: it computes the median of the slowest rank, the spread
// and the share of a link, and decides whether two pieces of code differ.
//
// core runs the code and passes the times of all ranks; the package knows no device. A run is over
// when the last rank is done, so a figure is the slowest rank's. Medians stand for runs, because
// single runs are disturbed by other processes.
package measure
