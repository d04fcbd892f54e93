package train

import (
	"hash/fnv"
	"strings"

	"reprise/internal/container"
)

// part is the use of a conversation in training.
type part uint8

// The parts. Half of the conversations are held out, a tenth decides when training ends.
const (
	trainingPart   part = iota // 40 %: sets the weights
	validationPart             // 10 %: early stopping, calibration and threshold
	heldOutPart                // 50 %: measured, and seen by nothing before
)

// partOf is the part of the conversations that begin with a prompt, by a hash of the prompt and the seed. Prompts that differ only in case
// and white space are one, so that no opening of the held-out half was seen in training.
func partOf(seed uint64, opening string) part {
	h := fnv.New64a()
	for _, word := range strings.Fields(strings.ToLower(opening)) {
		h.Write([]byte(word))
		h.Write([]byte{' '})
	}
	switch container.Mix(h.Sum64()^seed*0x9e3779b97f4a7c15) % 10 { // neighbouring seeds give unrelated splits
	case 0:
		return validationPart
	case 1, 2, 3, 4:
		return trainingPart
	}
	return heldOutPart
}
