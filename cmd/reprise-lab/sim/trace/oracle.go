package trace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"reprise/cmd/reprise-lab/sim"
)

// oracleRecord is the length of a record of format OracleGeneral.
const oracleRecord = 24

func parseOracle(in *bufio.Reader, yield func(sim.Request) bool) error {
	var record [oracleRecord]byte
	for n := 1; ; n++ {
		got, err := io.ReadFull(in, record[:])
		switch {
		case err == io.EOF:
			return nil
		case err == io.ErrUnexpectedEOF:
			return fmt.Errorf("record %d: cut short: %d of %d bytes", n, got, oracleRecord)
		case err != nil:
			return fmt.Errorf("record %d: %w", n, err)
		}
		if !yield(oracleRequest(record[:])) {
			return nil
		}
	}
}

// oracleRequest parses a record. There is no identity 0, so the id 0 gets the identity of the text "0".
func oracleRequest(record []byte) sim.Request {
	r := sim.Request{
		At:   float64(binary.LittleEndian.Uint32(record)),
		ID:   binary.LittleEndian.Uint64(record[4:]),
		Size: int64(binary.LittleEndian.Uint32(record[12:])),
	}
	if r.ID == 0 {
		r.ID = Identity("0")
	}
	return r
}
