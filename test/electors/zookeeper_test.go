package electors

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

// frame is a request or an answer with that number.
func frame(number uint32, body ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	b = binary.BigEndian.AppendUint32(b, number)
	return append(b, body...)
}

func request(number, op uint32) []byte {
	return frame(number, append(binary.BigEndian.AppendUint32(nil, op), make([]byte, 20)...)...)
}

func TestAnswersToChecksAreHeardHoweverTheyAreCut(t *testing.T) {
	const ping, sync = 11, 9
	requests := [][]byte{request(0, 0), request(1, sync), request(2, opExists), request(^uint32(1), ping), request(3, opExists), request(4, opExists)}
	answers := bytes.Join([][]byte{frame(0, make([]byte, 36)...), frame(1, make([]byte, 30)...), frame(2, make([]byte, 90)...), frame(^uint32(1), make([]byte, 12)...),
		frame(2, 1), frame(3), frame(^uint32(0), make([]byte, 40)...)}, nil)
	for size := 1; size <= len(answers); size++ {
		heard, told := 0, 0
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			for _, r := range requests {
				_, _ = io.ReadFull(server, make([]byte, len(r)))
			}
			_, _ = server.Write(answers)
		}()
		c := newChecks(client, Replica{Renewed: func() { heard++ }, Answered: func(time.Time) { told++ }})
		for _, r := range requests {
			if _, err := c.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		b := make([]byte, size)
		var got []byte
		for {
			n, err := c.Read(b)
			got = append(got, b[:n]...)
			if err != nil {
				break
			}
		}
		// The first answer of 2 and that of 3; 4 was not answered.
		if heard != 2 || told != 2 || !bytes.Equal(got, answers) {
			t.Errorf("in reads of %d bytes: %d and %d checks of 2, %d bytes of %d", size, heard, told, len(got), len(answers))
		}
	}
}
