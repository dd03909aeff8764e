// Wheel packs a built program, the Python package in the folder python, the notebooks, the Jupyter kernel and the manual page into a Python
// wheel, which pip installs.
//
//	wheel -program FILE -man FILE -completions FOLDER -extra cpu=ziglang==0.17.1 -out FOLDER
//
// A wheel is a zip file with a list of its files and their hashes; see
// https://packaging.python.org/en/latest/specifications/binary-distribution-format. Its name says on which machines it runs: those with a C
// library as old as that of manylinux_2_28 or newer. Wheel reads from the program whether this is true, and fails if not. The same files give
// the same bytes.
package main
