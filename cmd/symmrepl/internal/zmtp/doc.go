// Package zmtp has the listening ends of the ZeroMQ sockets of a Jupyter kernel: Router for requests, Publisher for what all front ends see, Echo
// for the heartbeat. They speak ZMTP 3 (https://rfc.zeromq.org/spec/23) with its NULL mechanism over any stream; Jupyter signs its messages itself.
//
// The pure Go library there is, github.com/go-zeromq/zmq4 v0.17.0, cannot be used: a front end that is stopped holds up those beside it, its XPUB
// does not tell of subscriptions, which Jupyter's welcome message needs, and the size of a frame that a stranger announces is allocated unseen.
//
// What a peer does not read is queued, up to a bound; then it is let go. Only Publisher.Offer waits for peers, and only for those that read.
package zmtp
