package gocron

// Open is the number of handles that a locker keeps.
func Open[L Unlocker](k *Locker[L]) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.open)
}
