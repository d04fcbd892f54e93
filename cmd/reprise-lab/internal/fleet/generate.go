package fleet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Load is a generated trace: conversations of several tenants, each of which has one system prompt for all of its conversations.
type Load struct {
	Tenants, Conversations      int
	System, User, Answer, Turns int     // tokens of a system prompt and, on average, of a question and an answer; turns of a conversation on average
	Pause, Skew                 float64 // seconds between an answer's request and the next turn on average; exponent of Zipf's law of the tenants
	Repeat                      float64 // share of the conversations that have the texts of an earlier one of their tenant
}

// DefaultLoad is the load of the study: many tenants with a long system prompt, as in llm-d's benchmark of its router.
func DefaultLoad() Load {
	return Load{Tenants: 150, Conversations: 1500, System: 6000, User: 300, Answer: 250, Turns: 4, Pause: 8, Skew: 0.8}
}

// LoadName is the name of a generated trace.
const LoadName = "generate:tenants"

// fields are the parameters in their order, with the allowed values.
func (l *Load) fields() []loadField {
	return []loadField{
		{"tenants", &l.Tenants, nil, 1, 1e5}, {"conversations", &l.Conversations, nil, 1, 1e6}, {"system", &l.System, nil, 0, 1e6},
		{"user", &l.User, nil, 1, 1e6}, {"answer", &l.Answer, nil, 1, 1e6}, {"turns", &l.Turns, nil, 1, 1000},
		{"pause", nil, &l.Pause, 0, 1e6}, {"skew", nil, &l.Skew, 0, 10}, {"repeat", nil, &l.Repeat, 0, 1},
	}
}

type loadField struct {
	name        string
	whole       *int
	real        *float64
	least, most float64
}

func (f *loadField) set(value string) error {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= f.least && n <= f.most) || f.whole != nil && n != math.Trunc(n) {
		return fmt.Errorf("%s=%s: want a number from %g to %g", f.name, value, f.least, f.most)
	}
	if f.whole != nil {
		*f.whole = int(n)
	} else {
		*f.real = n
	}
	return nil
}

// Generate makes the trace of a spec, "generate:tenants" or "generate:tenants:key=value,…".
func Generate(spec string, seed uint64) (*Trace, error) {
	rest, ok := strings.CutPrefix(spec, LoadName)
	if !ok || rest != "" && rest[0] != ':' {
		return nil, fmt.Errorf("trace %q: want %s or %s:key=value,…", spec, LoadName, LoadName)
	}
	l := DefaultLoad()
	if rest = strings.TrimPrefix(rest, ":"); rest != "" {
		for part := range strings.SplitSeq(rest, ",") {
			if err := l.set(part); err != nil {
				return nil, fmt.Errorf("trace %q: %w", spec, err)
			}
		}
	}
	t := l.trace(rand.New(rand.NewPCG(seed, 0x6c6f6164)))
	t.Name = strings.TrimPrefix(spec, "generate:")
	return t, nil
}

// LoadHelp lists the parameters of a generated trace with their defaults.
func LoadHelp() string {
	l := DefaultLoad()
	var all []string
	for _, f := range l.fields() {
		value := strconv.FormatFloat(f.value(), 'g', -1, 64)
		all = append(all, f.name+"="+value)
	}
	return strings.Join(all, ",")
}

func (f *loadField) value() float64 {
	if f.whole != nil {
		return float64(*f.whole)
	}
	return *f.real
}

func (l *Load) set(part string) error {
	name, value, _ := strings.Cut(part, "=")
	var known []string
	for _, f := range l.fields() {
		if f.name == name {
			return f.set(value)
		}
		known = append(known, f.name)
	}
	return fmt.Errorf("%q: want one of %s, each with a value", name, strings.Join(known, ", "))
}

// conversation is what the prompts of one conversation are the beginnings of.
type conversation struct {
	tenant, id int
	seed       uint64
}

func (l *Load) trace(random *rand.Rand) *Trace {
	weights, total := make([]float64, l.Tenants), 0.0
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -l.Skew)
		total += weights[i]
	}
	earlier := make([][]conversation, l.Tenants)
	var all [][]Request
	for i := range l.Conversations {
		tenant, at := 0, random.Float64()*total
		for at -= weights[tenant]; at > 0 && tenant < l.Tenants-1; at -= weights[tenant] {
			tenant++
		}
		c := conversation{tenant, i, random.Uint64()}
		if n := len(earlier[tenant]); n > 0 && random.Float64() < l.Repeat {
			c = earlier[tenant][random.IntN(n)]
		} else {
			earlier[tenant] = append(earlier[tenant], c)
		}
		session := l.conversation(c)
		session[0].At = float64(i)
		all = append(all, session)
	}
	return &Trace{Requests: bySession(all), Sessions: true, Unit: textUnit}
}

// conversation makes the requests of one conversation. Each prompt is the one before it with its answer and a new question.
func (l *Load) conversation(c conversation) (all []Request) {
	random := rand.New(rand.NewPCG(c.seed, 2))
	tokens := l.System
	for {
		tokens += about(random, l.User)
		content := &runs{unit: textUnit, tokens: tokens, scaffold: l.System / textUnit}
		content.add(c.tenant<<20, l.System/textUnit)
		content.add((1+l.Tenants+c.id)<<20, (tokens-l.System+textUnit-1)/textUnit)
		answer := about(random, l.Answer)
		all = append(all, open(random.ExpFloat64()*l.Pause, tokens, answer, content))
		if tokens += answer; random.Float64() < 1/float64(l.Turns) || len(all) == 8*l.Turns {
			return all
		}
	}
}

// about is a length with an exponential distribution of the mean, between an eighth and eight times of it.
func about(random *rand.Rand, mean int) int {
	return max(1, mean/8, min(8*mean, int(random.ExpFloat64()*float64(mean))))
}
