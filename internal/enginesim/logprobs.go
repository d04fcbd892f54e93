package enginesim

// logprobList is the log probabilities of a chat choice.
type logprobList struct {
	Content []logprob `json:"content"`
	Refusal []logprob `json:"refusal"`
}

type logprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Bytes   []int     `json:"bytes"`
	Top     []logprob `json:"top_logprobs,omitzero"`
}

// chatLogprobs makes up a probability for each piece, and top others that are less likely.
func chatLogprobs(pieces []string, top int) *logprobList {
	list := &logprobList{Content: make([]logprob, 0, len(pieces))}
	for _, p := range pieces {
		l := newLogprob(p, logprobOf(p))
		l.Top = make([]logprob, 0, top)
		for i := range top {
			l.Top = append(l.Top, newLogprob(rival(p, i), l.Logprob-float64(i)))
		}
		list.Content = append(list.Content, l)
	}
	return list
}

func newLogprob(piece string, p float64) logprob {
	l := logprob{Token: piece, Logprob: p, Bytes: make([]int, len(piece))}
	for i := range len(piece) {
		l.Bytes[i] = int(piece[i])
	}
	return l
}

// logprobOf is between -0.64 and 0, and depends only on the piece.
func logprobOf(piece string) float64 { return -float64(tokenOf(piece)%64) / 100 }

// rival is the i-th likely piece in place of another: itself, then words from the model's vocabulary.
func rival(piece string, i int) string {
	if i == 0 {
		return piece
	}
	return " " + subjects[(int(tokenOf(piece)%64)+i)%len(subjects)]
}

// oldLogprobs is the form of the completions endpoint.
type oldLogprobs struct {
	Tokens  []string             `json:"tokens"`
	Probs   []float64            `json:"token_logprobs"`
	Top     []map[string]float64 `json:"top_logprobs"`
	Offsets []int                `json:"text_offset"`
}

// completionLogprobs describes pieces whose first byte is at offset in the text.
func completionLogprobs(pieces []string, top, offset int) *oldLogprobs {
	l := &oldLogprobs{}
	for _, p := range pieces {
		l.Tokens = append(l.Tokens, p)
		l.Probs = append(l.Probs, logprobOf(p))
		l.Offsets = append(l.Offsets, offset)
		rivals := map[string]float64{}
		for i := range top {
			rivals[rival(p, i)] = logprobOf(p) - float64(i)
		}
		l.Top = append(l.Top, rivals)
		offset += len(p)
	}
	return l
}
