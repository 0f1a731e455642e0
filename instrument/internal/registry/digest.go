package registry

import "hash/maphash"

// Digest stands for a name in memory: 127 bits under seeds of this process,
// independent of any label.
type Digest struct{ first, second uint64 }

// digester makes digests of names.
type digester struct{ first, second maphash.Seed }

func newDigester() digester { return digester{maphash.MakeSeed(), maphash.MakeSeed()} }

// firstOf is the first half of a digest; not zero, which is no name.
func (d *digester) firstOf(name string) uint64 { return maphash.String(d.first, name) | 1 }

func (d *digester) of(name string, first uint64) Digest {
	return Digest{first, maphash.String(d.second, name)}
}
