// Package zmtp has the listening ends of the ZeroMQ sockets of a Jupyter kernel: Router for
// requests, Publisher for messages to all front ends, Echo for the heartbeat. They speak ZMTP 3
// (https://rfc.zeromq.org/spec/23) with its NULL mechanism over any stream; Jupyter signs its
// messages itself.
//
// The pure Go library github.com/go-zeromq/zmq4 v0.17.0 cannot be used: a front end that is stopped
// holds up the others, its XPUB does not report subscriptions, which Jupyter's welcome message
// needs, and it allocates frames of any size that a stranger announces.
//
// Messages to a peer that does not read are queued up to a bound; then the peer is disconnected.
// Only Publisher.Offer waits for peers, and only for peers that read.
package zmtp
