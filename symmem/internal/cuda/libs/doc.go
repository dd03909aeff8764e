// Package libs finds NVIDIA's libraries without loading them.
//
// The libraries lie in several places: a driver or toolkit package puts them where the loader
// looks, and Python wheels put them under site-packages/nvidia. [Find] looks, in this order, at the
// library's own environment variable, the folders of LD_LIBRARY_PATH, the loader's cache (what
// ldconfig lists), the toolkit's folders, and the Python environments at hand; among wheels the
// highest version comes first. It runs no program and opens no library, so a search costs only some
// file look-ups.
package libs
