package kvstudy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// writtenTalks is how many chats are generated: half of them train.
const writtenTalks = 2600

// write makes a file of generated chats and returns its path. They are for what recorded ones here do not have: prompts and answers as long as
// those of the paper's chats, and ends that words and turns foretell about as little as in its data sets.
func write(dir string, seed uint64, talks int) (path string, err error) {
	path = filepath.Join(dir, "chats.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("write chats: %w", err)
	}
	out := bufio.NewWriter(f)
	w := writer{rand.New(rand.NewPCG(seed, 0x6368617473))}
	for i := range talks {
		line, err := json.Marshal(struct {
			Turns [][2]string `json:"turns"`
		}{w.talk(i)})
		if err != nil {
			return "", fmt.Errorf("write chat %d: %w", i+1, err)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return "", fmt.Errorf("write chats: %w", err)
	}
	return path, f.Close()
}

type writer struct{ *rand.Rand }

// A chat is of one of two kinds: a question that is answered at once, or work that takes many turns. Some words of its prompts show which.
var (
	goingOn = [2]float64{.22, .7} // probability of another turn, by kind
	hints   = [2][]string{
		strings.Fields("define translate convert capital synonym weather population spelling year distance currency meaning"),
		strings.Fields("project debug draft chapter function strategy roleplay refactor essay plan character module"),
	}
	common = strings.Fields("the of and to in is that it for was on are as with they be at one have this from or had by not but some what there we can out other were " +
		"all your when up use word how said an each she which do their time if will way about many then them would write like so these her long make thing see him two has look more day")
	showing = .12 // of the words are of a kind
	misled  = .3  // of these, of the other one
)

const mostTurns = 12

func (w writer) talk(n int) (turns [][2]string) {
	kind := w.IntN(2)
	for {
		turns = append(turns, [2]string{"U", w.prompt(n, kind)}, [2]string{"S", w.text(n, 40+int(w.ExpFloat64()*160))})
		if len(turns) == 2*mostTurns || w.Float64() >= goingOn[kind] {
			return turns
		}
	}
}

func (w writer) prompt(n, kind int) string {
	words := []string{fmt.Sprint(n)}
	for range 8 + int(w.ExpFloat64()*40) {
		switch {
		case w.Float64() >= showing:
			words = append(words, pick(w, common))
		case w.Float64() < misled:
			words = append(words, pick(w, hints[1-kind]))
		default:
			words = append(words, pick(w, hints[kind]))
		}
	}
	return strings.Join(words, " ")
}

func pick(w writer, words []string) string { return words[w.IntN(len(words))] }

// text is an answer: words that no other chat has in that order.
func (w writer) text(n, words int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", n)
	for range words {
		fmt.Fprintf(&b, " %s%s", syllables[w.IntN(len(syllables))], syllables[w.IntN(len(syllables))])
	}
	return b.String()
}

var syllables = strings.Fields("ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo bre cla dri flo gru pla sto tra vel")
