package policies

// densities is what LHD has learned: for each class of entries, how many hits and evictions there were at each age.
type densities struct {
	classes [lhdClasses]lhdClass
	shift   int // ages are in steps of 2^shift requests
	updates int

	residents, mass float32 // a fading average of the number of residents
}

type lhdClass struct {
	hits, evictions, density []float32 // by age
}

const (
	lhdClasses = 16
	lhdAges    = 20_000
	lhdFade    = 0.9
	// lhdAgesUsed is the share of the ages that one turnover of the cache should take.
	lhdAgesUsed = 0.01
)

// newDensities starts with a guess that falls with age. A class is worth up to twice another and not 16 times, because the
// published code counts the classes of an application that has none before it.
func newDensities(shift int) densities {
	d := densities{shift: shift}
	for i := range d.classes {
		c := &d.classes[i]
		c.hits, c.evictions, c.density = make([]float32, lhdAges), make([]float32, lhdAges), make([]float32, lhdAges)
		for age := range c.density {
			c.density[age] = float32(lhdClasses+i+1) / float32(age+1)
		}
	}
	return d
}

// age is in steps; the last one is of all that is older.
func (d *densities) age(requests int64) int32 {
	return int32(min(requests>>d.shift, lhdAges-1))
}

// class is lower the longer the last two hits took: how often the sum of their ages doubles until it is off the scale.
func (d *densities) class(tag *lhdTag) *lhdClass {
	age, class := tag.hitAge+tag.priorAge, 0
	if age == 0 {
		return &d.classes[lhdClasses-1]
	}
	for ; age < lhdAges && class < lhdClasses-1; age *= 2 {
		class++
	}
	return &d.classes[class]
}

// update fades the counts and computes the densities again. The sixth and the 26th call adapt the step of the ages to the
// number of residents.
func (d *densities) update(residents int) {
	for i := range d.classes {
		d.classes[i].fade()
	}
	d.residents = d.residents*lhdFade + float32(residents)
	d.mass = d.mass*lhdFade + 1
	if d.updates == 5 || d.updates == 25 {
		d.retune()
	}
	for i := range d.classes {
		d.classes[i].learn()
	}
	d.updates++
}

func (d *densities) retune() {
	step := d.residents / d.mass / (lhdAgesUsed * lhdAges)
	shift := 1
	for float32(int64(1)<<shift) < step {
		shift++
	}
	for i := range d.classes {
		d.classes[i].rescale(shift - d.shift)
	}
	d.shift = shift
	d.residents *= 8 // so that the average is slow to move from here
	d.mass *= 8
}

func (c *lhdClass) fade() {
	for age := range c.hits {
		c.hits[age] *= lhdFade
		c.evictions[age] *= lhdFade
	}
}

// learn goes from the oldest age down. An entry of an age has ahead of it the hits and the evictions of all later ages; the
// sum over those ages of what is then still ahead is their common lifetime.
func (c *lhdClass) learn() {
	hits := c.hits[lhdAges-1]
	events := hits + c.evictions[lhdAges-1]
	lifetime := events
	for age := lhdAges - 2; age >= 0; age-- {
		hits += c.hits[age]
		events += c.hits[age] + c.evictions[age]
		lifetime += events
		c.density[age] = 0
		if events > 1e-5 {
			c.density[age] = hits / lifetime
		}
	}
}

// rescale moves the counts to steps that are 2^by times as long.
func (c *lhdClass) rescale(by int) {
	for _, counts := range [][]float32{c.hits, c.evictions} {
		switch {
		case by < 0:
			stretch(counts, -by)
		case by > 0:
			compress(counts, by)
		}
	}
}

// stretch spreads each count over 2^by ages; the last age takes what no longer fits.
func stretch(counts []float32, by int) {
	last := len(counts) - 1
	for _, n := range counts[len(counts)>>by : last] {
		counts[last] += n
	}
	for age := last - 1; age >= 0; age-- {
		counts[age] = counts[age>>by] / float32(int64(1)<<by)
	}
}

// compress adds up the counts of 2^by ages; the last age stays.
func compress(counts []float32, by int) {
	last := len(counts) - 1
	for age := 0; age < len(counts)>>by; age++ {
		sum := float32(0)
		for _, n := range counts[age<<by : min((age+1)<<by, last)] {
			sum += n
		}
		counts[age] = sum
	}
	clear(counts[len(counts)>>by : last])
}
