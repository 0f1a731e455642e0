package history

import (
	"fmt"
	"testing"
	"time"
)

const ms = time.Millisecond

func take(term string, from, to time.Duration) Operation { return Operation{Take, term, from, to} }
func free(term string, from, to time.Duration) Operation { return Operation{Free, term, from, to} }

func TestAHistoryIsThatOfALockOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		operations []Operation
		want       Verdict
	}{
		"nothing happened":                        {nil, Legal},
		"taken and kept":                          {[]Operation{take("a", 0, 10)}, Legal},
		"one after the other":                     {[]Operation{take("a", 0, 10), free("a", 20, 30), take("b", 40, 50)}, Legal},
		"a wait that ends when the lock is free":  {[]Operation{take("a", 0, 10), take("b", 5, 50), free("a", 20, 60)}, Legal},
		"two wait":                                {[]Operation{take("a", 0, 10), take("b", 1, 90), take("c", 1, 50), free("a", 20, 30), free("c", 55, 70)}, Legal},
		"listed in another order":                 {[]Operation{take("b", 40, 50), free("a", 20, 30), take("a", 0, 10)}, Legal},
		"taken while another holds it":            {[]Operation{take("a", 0, 10), take("b", 15, 20), free("a", 30, 40)}, Illegal},
		"taken by a second that waited":           {[]Operation{take("a", 0, 10), take("b", 5, 20), free("a", 30, 40)}, Illegal},
		"taken twice, never freed":                {[]Operation{take("a", 0, 10), take("b", 20, 30)}, Illegal},
		"freed and not taken":                     {[]Operation{free("a", 0, 10)}, Illegal},
		"freed twice":                             {[]Operation{take("a", 0, 10), free("a", 20, 30), free("a", 40, 50)}, Illegal},
		"freed by the next before it has taken":   {[]Operation{take("a", 0, 10), free("b", 20, 30), take("b", 40, 50)}, Illegal},
		"the second of two waiters does not wait": {[]Operation{take("a", 0, 10), take("b", 1, 50), take("c", 1, 51), free("a", 20, 30)}, Illegal},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := Check(c.operations, time.Minute); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestALongHistoryIsDecided(t *testing.T) {
	var operations []Operation
	for i := range time.Duration(1000) {
		term := fmt.Sprint(i)
		operations = append(operations, take(term, max(0, 10*i-25), 10*i), free(term, 10*i+2, 10*i+9))
	}
	if got, _ := Check(operations, time.Minute); got != Legal {
		t.Errorf("1000 terms: %s", got)
	}
	operations = append(operations, take("one more", 5001, 5002))
	if got, _ := Check(operations, time.Minute); got != Illegal {
		t.Errorf("1000 terms and one that nobody freed: %s", got)
	}
}

func TestAnIllegalHistoryNamesWhatHasNoPlace(t *testing.T) {
	for name, c := range map[string]struct {
		operations []Operation
		want       string
	}{
		"legal":                          {[]Operation{take("a", 0, 10)}, ""},
		"taken while another holds it":   {[]Operation{take("a", 0, time.Second), take("b", 1500*ms, 2*time.Second), free("a", 3*time.Second, 4*time.Second)}, "no place for take b (1.500 s to 2.000 s), after take a (0.000 s to 1.000 s)"},
		"another was never freed":        {[]Operation{take("a", 0, 10), free("a", 20, 30), take("b", 40, 50), take("c", time.Second, 2*time.Second)}, "no place for take c (1.000 s to 2.000 s), after take b (0.000 s to 0.000 s)"},
		"freed and never taken":          {[]Operation{take("a", 0, 10), free("a", 20, 30), free("b", time.Second, 2*time.Second)}, "no place for free b (1.000 s to 2.000 s), when the lock is free"},
		"what is wrong at its beginning": {[]Operation{free("a", 0, time.Second)}, "no place for free a (0.000 s to 1.000 s), when the lock is free"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, why := Check(c.operations, time.Minute); why != c.want {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}
