// Package places is where the ranks of a world are: on which hosts, whose memory they map, and who
// shares a device. It is found out from what the devices of all ranks say, once when a world is
// built and again when ranks were lost, and does not change in between.
//
// A rank loads from and stores to the memory of the ranks of its part of the world: those of its
// host, or of them those whose devices can map each other's memory. GPUs on one NVLink fabric map
// each other's memory also between hosts: their ranks are one part, unless hosts are simulated.
// Several ranks of a host may use one device; it is then within their own reach.
package places
