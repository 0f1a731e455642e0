package main

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports below those that the kernel gives to outgoing connections, so that
// nothing takes a replica's port while it is down.
const firstPort, lastPort = 15000, 32000

// freePorts finds n loopback addresses on which nothing listens.
func freePorts(n int) ([]string, error) {
	var found []string
	for range 50 * n {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		defer l.Close() // all at the end, so that no address comes twice
		if found = append(found, address); len(found) == n {
			return found, nil
		}
	}
	return nil, fmt.Errorf("only %d of %d free ports between %d and %d", len(found), n, firstPort, lastPort)
}
