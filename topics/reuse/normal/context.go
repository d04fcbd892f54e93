package normal

import "reprise/topics/frames"

// Front returns what stands before what a prompt without a frame asks, and the label of that: a document, or an order, that two prompts must have in
// common byte for byte, while what is behind the label is compared by its form.
func Front(prompt string) string { return prompt[:frames.Front(prompt)] }
