// Package nvshmem has what NVSHMEM's names and NVSHMEM itself need here.
//
// For kernels that include nvshmem.h it keeps the table by which the header's functions find
// symmetric tensors ([Table]), and explains what they refuse ([Refused]). For the back end NVSHMEM it
// has the environment that the library needs ([Environment]) and looks after the streams that wait by
// the library, whose waits nothing but their word ends ([Watch]).
package nvshmem
