// Wheel packs a built program, the library of the emulator, the Python package in the folder python, the
// notebooks, the Jupyter kernel and the manual page into a Python wheel, which pip installs.
//
//	wheel -program FILE -emulator FILE -man FILE -completions FOLDER -extra cpu=ziglang==0.17.1 -out FOLDER
//
// A wheel is a zip file with a list of its files and their hashes; see
// https://packaging.python.org/en/latest/specifications/binary-distribution-format. Its name states
// the machines on which it runs: those with the C library of manylinux_2_28 or a newer one. Wheel
// fails if the program or the library needs more than that. The same files give the same bytes.
package main
