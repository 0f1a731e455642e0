package reading

import (
	"maps"
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
)

// views writes what the backends say of the locks of a label, and as whom this
// process campaigns.
func (o *output) views(r *registry.Reading) {
	for _, identity := range r.Identities {
		o.values = Values{identity}
		o.value(catalog.IdentityInfo, 1)
	}
	for i := range r.Views {
		o.values = Values{r.Views[i].Backend}
		o.view(&r.Views[i])
	}
	o.values = Values{}
}

// view writes who holds only while that can be believed; what was counted
// stays.
func (o *output) view(v *registry.View) {
	if v.Known > 0 {
		o.known(v)
	}
	if v.Told != 0 {
		o.value(catalog.BackendLastEvent, v.Told)
	}
	o.value(catalog.BackendTerms, float64(v.Terms))
	o.value(catalog.BackendVacant, v.Vacant.Seconds())
	o.histogram(catalog.BackendHandover, &v.Handover)
}

func (o *output) known(v *registry.View) {
	o.value(catalog.BackendHeld, float64(v.Held))
	if v.Holder != "" {
		o.values[1] = v.Holder
		o.value(catalog.BackendHolderInfo, 1)
		o.values[1] = ""
	}
	if v.End != 0 {
		o.value(catalog.BackendLeaseExpiry, v.End)
	}
	if v.Length > 0 {
		o.value(catalog.BackendLeaseDuration, v.Length.Seconds())
	}
	if v.Counted {
		o.value(catalog.BackendToken, float64(v.Token))
	}
}

// Backends adds up, over all labels, whether the views of each backend can be
// believed.
type Backends map[string]*backend

type backend struct {
	up    bool
	every time.Duration
}

// NewBackends begins with what the program says of whole backends.
func NewBackends(reached map[string]bool) Backends {
	all := Backends{}
	for name, up := range reached {
		all[name] = &backend{up: up}
	}
	return all
}

// Add takes the views of one label.
func (b Backends) Add(views []registry.View) {
	for i := range views {
		v := &views[i]
		if v.Watched == 0 {
			continue
		}
		of := b[v.Backend]
		if of == nil {
			of = &backend{up: true}
			b[v.Backend] = of
		}
		of.up = of.up && v.Known == v.Watched
		of.every = max(of.every, v.Every)
	}
}

func (b Backends) write(w Writer) {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		values := Values{name}
		up := 0.0
		if b[name].up {
			up = 1
		}
		w(catalog.BackendUp, &values, up, nil)
		if b[name].every > 0 {
			w(catalog.BackendPollInterval, &values, b[name].every.Seconds(), nil)
		}
	}
}
