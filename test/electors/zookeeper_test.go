package electors

import (
	"bytes"
	"encoding/binary"
	"net"
	"testing"
)

// frame is an answer of ZooKeeper to the request of that number.
func frame(number int32, body int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+body))
	b = binary.BigEndian.AppendUint32(b, uint32(number))
	return append(b, make([]byte, body)...)
}

func TestAnswersToPingsAreHeardHoweverTheyAreCut(t *testing.T) {
	stream := bytes.Join([][]byte{frame(0, 36), frame(pingNumber, 12), frame(1, 0), frame(7, 100), frame(pingNumber, 12), frame(pingNumber, 0)}, nil)
	for size := 1; size <= len(stream); size++ {
		heard := 0
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			_, _ = server.Write(stream)
		}()
		p := &pings{Conn: client, replica: Replica{Renewed: func() { heard++ }}}
		b := make([]byte, size)
		var got []byte
		for {
			n, err := p.Read(b)
			got = append(got, b[:n]...)
			if err != nil {
				break
			}
		}
		if heard != 3 || !bytes.Equal(got, stream) {
			t.Errorf("in reads of %d bytes: %d pings of 3, %d bytes of %d", size, heard, len(got), len(stream))
		}
	}
}
