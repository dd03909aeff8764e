#ifndef NET_UCX_IMPORTS_H
#define NET_UCX_IMPORTS_H

#include <stddef.h>

// import is a function that a library imports.
typedef struct {
	const char *name;
	void *by;  // what the library calls in its place
	int found; // set if the library imports it
} import;

// imports_replace replaces imports of the library that contains the function at an address. It
// returns NULL, or the reason for which the table of imports cannot be changed.
const char *imports_replace(void *inside, import *imports, size_t n);

#endif
