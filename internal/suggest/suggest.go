// Package suggest finds the known name that an unknown one was meant to be, for messages.
package suggest

import "strings"

// DidYouMean completes a message about an unknown name with the nearest known one, or with nothing where none is near. The
// distance is the edits between them; it is 1 for a known name that begins with the words of the unknown one. Of two at the
// same distance one of equal length is taken.
func DidYouMean(name string, known []string) string {
	if name == "" {
		return ""
	}
	best, least := "", max(2, len(name)/3)+1 // two letters that changed places are two edits
	for _, k := range known {
		d := distance(name, k)
		if strings.EqualFold(name, k) {
			return "; did you mean " + k + "?"
		}
		if strings.HasPrefix(k, name+"_") || strings.HasPrefix(k, name+"-") {
			d = 1
		}
		if d < least || d == least && len(k) == len(name) && best != "" && len(best) != len(name) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is the number of inserted, deleted or replaced bytes between a and b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
