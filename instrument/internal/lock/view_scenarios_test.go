package lock

// views are looks at the backend.
var views = []scenario{
	{"a term that is found did not begin with the first look", Params{}, `
		10s sees held by=a => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees held by=a => v.told=20
	`},
	{"a released lock is vacant until the next holder", Params{}, `
		10s sees held by=a => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees vacant => v.told=20 v.held=- v.holder=-
		23s look-on => v.vacant=3s
		25s sees held by=b => v.gaps=1/5 v.held=1 v.holder=b v.terms=1 v.told=25 v.vacant=5s
		40s look-on
	`},
	{"a vacancy that is found has no known beginning", Params{}, `
		10s sees vacant => v.told=10 v.up=1 v.watched=1
		15s sees held by=a => v.held=1 v.holder=a v.terms=1 v.told=15 v.vacant=5s
	`},
	{"one holder follows another at once", Params{}, `
		10s sees held by=a => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees held by=b => v.gaps=1/0 v.holder=b v.terms=1 v.told=20
	`},
	{"between two polls a change of the holder tells nothing about the gap", Params{}, `
		10s sees held by=a every=5s => v.every=5s v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		15s sees held by=b every=5s => v.holder=b v.terms=1 v.told=15
		20s sees vacant every=5s => v.told=20 v.held=- v.holder=-
		30s sees held by=b every=5s => v.gaps=1/10 v.held=1 v.holder=b v.terms=2 v.told=30 v.vacant=10s
	`},
	{"another token of the same holder is another term", Params{}, `
		10s sees held by=a token=7 => v.held=1 v.holder=a v.token=7 v.told=10 v.up=1 v.watched=1
		11s sees held by=a token=7 => v.told=11
		12s sees held by=a token=9 => v.gaps=1/0 v.terms=1 v.token=9 v.told=12
		13s sees held by=a => v.told=13 v.token=-
		14s sees held by=a token=9 => v.token=9 v.told=14
		15s sees held by=b token=9 => v.gaps=2/0 v.holder=b v.terms=2 v.told=15
	`},
	{"a lease that is renewed in time is one term", Params{}, `
		10s sees held by=a end=25s length=15s => v.end=25 v.held=1 v.holder=a v.length=15s v.told=10 v.up=1 v.watched=1
		20s sees held by=a end=35s length=15s => v.end=35 v.told=20
		36s look-on
	`},
	{"a look after the lease ended tells of a vacancy since then", Params{}, `
		10s sees held by=a end=25s length=15s => v.end=25 v.held=1 v.holder=a v.length=15s v.told=10 v.up=1 v.watched=1
		24s sees held by=a end=25s length=15s => v.told=24
		27s look-on
		28s sees held by=a end=25s length=15s => v.told=28 v.vacant=3s v.held=- v.holder=-
		30s sees held by=a end=25s length=15s => v.told=30 v.vacant=5s
		31s sees held by=a end=46s length=15s => v.end=46 v.gaps=1/6 v.held=1 v.holder=a v.terms=1 v.told=31 v.vacant=6s
	`},
	{"a lease that ended before it was last seen held shows no beginning of the vacancy", Params{}, `
		10s sees held by=a end=30s => v.end=30 v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees held by=a end=30s => v.told=20
		22s sees held by=a end=18s => v.end=18 v.told=22 v.held=- v.holder=-
		24s sees held by=b => v.held=1 v.holder=b v.terms=1 v.told=24 v.vacant=2s v.end=-
	`},
	{"a look at the very end of the lease shows a vacancy of nothing yet", Params{}, `
		10s sees held by=a end=25s => v.end=25 v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		25s sees held by=a end=25s => v.told=25 v.held=- v.holder=-
		26s look-on => v.vacant=1s
	`},
	{"a renewal that comes late without a look between was no vacancy", Params{}, `
		10s sees held by=a end=25s => v.end=25 v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		30s sees held by=a end=45s => v.end=45 v.told=30
	`},
	{"a lease that had ended before the first look is a vacancy of unknown length", Params{}, `
		10s sees held by=a end=5s => v.end=5 v.told=10 v.up=1 v.watched=1
		12s sees held by=b end=30s => v.end=30 v.held=1 v.holder=b v.terms=1 v.told=12 v.vacant=2s
	`},
	{"another holder whose lease has ended had a term, and the vacancy began with its end", Params{}, `
		10s sees held by=a end=25s => v.end=25 v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		40s sees held by=b end=38s => v.end=38 v.terms=1 v.told=40 v.vacant=2s v.held=- v.holder=-
		41s look-on => v.vacant=3s
		42s sees held by=c end=60s => v.end=60 v.gaps=1/4 v.held=1 v.holder=c v.terms=2 v.told=42 v.vacant=4s
	`},
	{"a look that does not tell the token is of the same term, and the next is compared with the one before", Params{}, `
		10s sees held by=a token=1 => v.held=1 v.holder=a v.token=1 v.told=10 v.up=1 v.watched=1
		11s sees held by=a => v.told=11 v.token=-
		12s sees held by=a token=1 => v.token=1 v.told=12
		13s sees held by=a => v.told=13 v.token=-
		14s sees held by=a token=2 => v.gaps=1/0 v.terms=1 v.token=2 v.told=14
	`},
	{"a look that does not tell the holder is of the same term, and the next is compared with the one before", Params{}, `
		10s sees held => v.held=1 v.told=10 v.up=1 v.watched=1
		11s sees held by=a => v.holder=a v.told=11
		12s sees held => v.told=12 v.holder=-
		13s sees held by=a => v.holder=a v.told=13
		14s sees held => v.told=14 v.holder=-
		15s sees held by=b => v.gaps=1/0 v.holder=b v.terms=1 v.told=15
		16s sees held token=7 => v.token=7 v.told=16 v.holder=-
		17s sees held token=8 => v.gaps=2/0 v.terms=2 v.token=8 v.told=17
		18s sees held by=c => v.holder=c v.told=18 v.token=-
	`},
	{"what is told of a term in an outage or after a vacancy", Params{}, `
		10s sees held by=a token=1 => v.held=1 v.holder=a v.token=1 v.told=10 v.up=1 v.watched=1
		11s sees nothing => v.held=- v.holder=- v.token=- v.up=-
		12s sees held => v.held=1 v.told=12 v.up=1
		13s sees held by=a token=1 => v.holder=a v.token=1 v.told=13
		14s sees vacant => v.told=14 v.held=- v.holder=- v.token=-
		15s sees held => v.gaps=1/1 v.held=1 v.terms=1 v.told=15 v.vacant=1s
		16s sees held by=b token=2 => v.holder=b v.token=2 v.told=16
	`},
	{"a term that came and went between two looks", Params{}, `
		10s sees held by=a end=25s every=30s => v.end=25 v.every=30s v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		40s sees held by=a end=25s every=30s => v.told=40 v.vacant=15s v.held=- v.holder=-
		50s look-on => v.vacant=25s
		70s sees held by=b end=65s every=30s => v.end=65 v.terms=1 v.told=70 v.vacant=45s
		71s look-on => v.vacant=46s
		80s sees held by=c end=95s every=30s => v.end=95 v.gaps=1/15 v.held=1 v.holder=c v.terms=2 v.told=80 v.vacant=55s
	`},
	{"a term that came and went, whose end was counted already", Params{}, `
		10s sees vacant every=30s => v.every=30s v.told=10 v.up=1 v.watched=1
		35s look-on => v.vacant=25s
		40s sees held by=b end=30s every=30s => v.end=30 v.terms=1 v.told=40 v.vacant=30s
		41s sees held by=c end=60s every=30s => v.end=60 v.gaps=1/11 v.held=1 v.holder=c v.terms=2 v.told=41 v.vacant=31s
	`},
	{"a term that came and went in an outage", Params{}, `
		10s sees vacant valid=5s => v.told=10 v.up=1 v.watched=1
		20s look-on => v.vacant=5s v.up=-
		40s sees held by=b end=30s => v.end=30 v.terms=1 v.told=40 v.up=1 v.vacant=15s
		41s sees held by=c end=60s => v.end=60 v.gaps=1/11 v.held=1 v.holder=c v.terms=2 v.told=41 v.vacant=16s
	`},
	{"terms of one holder that came and went are told apart by token or by a lease that is another", Params{}, `
		10s sees held by=a end=5s length=10s => v.end=5 v.length=10s v.told=10 v.up=1 v.watched=1
		40s sees held by=a end=5s length=10s => v.told=40 v.vacant=30s
		50s sees held by=a end=50s length=10s => v.end=50 v.terms=1 v.told=50 v.vacant=40s
		51s sees held by=a end=50.1s length=10s => v.end=50.1 v.told=51 v.vacant=41s
		60s sees held by=a end=55s length=10s token=2 => v.end=55 v.token=2 v.told=60 v.vacant=50s
		70s sees held by=a end=65s length=10s token=3 => v.end=65 v.terms=2 v.token=3 v.told=70 v.vacant=1m0s
	`},
	{"time in which the backend cannot be asked is no vacancy", Params{}, `
		10s sees vacant => v.told=10 v.up=1 v.watched=1
		20s sees nothing => v.vacant=10s v.up=-
		30s look-on
		40s sees vacant => v.told=40 v.up=1
		42s sees held by=a => v.held=1 v.holder=a v.terms=1 v.told=42 v.vacant=12s
	`},
	{"the first looks fail", Params{}, `
		10s sees nothing => v.watched=1
		11s sees nothing
		12s sees held by=a => v.held=1 v.holder=a v.told=12 v.up=1
	`},
	{"a holder that is seen again after an outage is the same term", Params{}, `
		10s sees held by=a => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees nothing => v.held=- v.holder=- v.up=-
		30s sees held by=a => v.held=1 v.holder=a v.told=30 v.up=1
		40s sees nothing => v.held=- v.holder=- v.up=-
		50s sees held by=b => v.held=1 v.holder=b v.terms=1 v.told=50 v.up=1
		60s sees nothing => v.held=- v.holder=- v.up=-
		70s sees vacant => v.told=70 v.up=1
		71s sees held by=b => v.held=1 v.holder=b v.terms=2 v.told=71 v.vacant=1s
	`},
	{"a vacancy that an outage cut has no known length", Params{}, `
		10s sees held by=a => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees vacant => v.told=20 v.held=- v.holder=-
		22s sees nothing => v.vacant=2s v.up=-
		30s sees vacant => v.told=30 v.up=1
		33s sees held by=b => v.held=1 v.holder=b v.terms=1 v.told=33 v.vacant=5s
	`},
	{"a holder after an outage that began with a vacancy", Params{}, `
		10s sees held by=a => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees vacant => v.told=20 v.held=- v.holder=-
		22s sees nothing => v.vacant=2s v.up=-
		30s sees held by=b => v.held=1 v.holder=b v.terms=1 v.told=30 v.up=1
	`},
	{"a record that an outage did not change shows when its lease ended", Params{}, `
		10s sees held by=a end=25s => v.end=25 v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees nothing => v.end=- v.held=- v.holder=- v.up=-
		40s sees held by=a end=25s => v.end=25 v.told=40 v.up=1 v.vacant=15s
		41s sees held by=b end=60s => v.end=60 v.gaps=1/16 v.held=1 v.holder=b v.terms=1 v.told=41 v.vacant=16s
	`},
	{"a record that was renewed in an outage shows when its lease ended, too", Params{}, `
		10s sees held by=a end=25s => v.end=25 v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees nothing => v.end=- v.held=- v.holder=- v.up=-
		60s sees held by=a end=55s => v.end=55 v.told=60 v.up=1 v.vacant=5s
		61s sees held by=b end=90s => v.end=90 v.gaps=1/6 v.held=1 v.holder=b v.terms=1 v.told=61 v.vacant=6s
	`},
	{"a look is believed no longer than it says", Params{}, `
		10s sees held by=a valid=15s => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees held by=a valid=15s => v.told=20
		35s look-on
		36s look-on => v.held=- v.holder=- v.up=-
		50s sees held by=a valid=15s => v.held=1 v.holder=a v.told=50 v.up=1
	`},
	{"a vacancy is counted no longer than the look is believed", Params{}, `
		10s sees held by=a valid=15s => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees vacant valid=15s => v.told=20 v.held=- v.holder=-
		60s look-on => v.vacant=15s v.up=-
		70s sees held by=b valid=15s => v.held=1 v.holder=b v.terms=1 v.told=70 v.up=1
	`},
	{"a suspended process counts no vacancy, whatever it sees first", Params{}, `
		10s sees held by=a end=25s valid=15s => v.end=25 v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		95s sees held by=a end=105s valid=15s => v.end=105 v.told=95
		96s sees held by=b end=111s valid=15s => v.end=111 v.gaps=1/0 v.holder=b v.terms=1 v.told=96
	`},
	{"nobody looks any more", Params{}, `
		10s sees held by=a token=3 every=2s => v.every=2s v.held=1 v.holder=a v.token=3 v.told=10 v.up=1 v.watched=1
		20s sees vacant => v.told=20 v.every=- v.held=- v.holder=- v.token=-
		22s sees unwatched => v.vacant=2s v.told=- v.up=- v.watched=-
		30s look-on
		40s sees held by=b => v.held=1 v.holder=b v.terms=1 v.told=40 v.up=1 v.watched=1
	`},
	{"nobody ever looked", Params{}, `
		10s sees unwatched
		10s idle => idle
	`},
	{"a lock that is watched is not idle", Params{}, `
		10s sees held by=a => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		11s idle => not-idle
		12s sees nothing => v.held=- v.holder=- v.up=-
		13s idle => not-idle
		14s sees unwatched => v.told=- v.watched=-
		15s idle => idle
	`},
	{"a forgotten lock keeps what was counted until it is drained, and sees nothing", Params{}, `
		10s sees held by=a => v.held=1 v.holder=a v.told=10 v.up=1 v.watched=1
		20s sees vacant => v.told=20 v.held=- v.holder=-
		25s retire => retired v.vacant=5s v.told=- v.up=- v.watched=-
		30s sees held by=b
		31s identify x
		31s unidentify x
		32s drain-sight => v.vacant=-
	`},
	{"what others hold is no term of this process", Params{Hold: true, Lease: lease}, `
		10s sees held by=a token=1 => lease=30s v.held=1 v.holder=a v.token=1 v.told=10 v.up=1 v.watched=1
		11s begin => entered pending=1
		12s win x token=2 => acquired=1 active=1 token=2 took=1/1 won=12 x=held x.active=true pending=-
		13s sees held by=b token=3 => v.gaps=1/0 v.holder=b v.terms=1 v.token=3 v.told=13
		14s sees vacant => v.told=14 v.held=- v.holder=- v.token=-
		15s sees nothing => v.vacant=1s v.up=-
		16s release x ok => ended ended=16 gave=ok:1 over=released:1 ran=1/4 x=released x.freed=true active=- x.active=-
	`},
	{"identities are counted by campaigns", Params{}, `
		10s identify a => as=a
		11s identify b => as=a,b
		12s identify a
		13s unidentify a
		14s unidentify a => as=b
		15s unidentify a
		16s unidentify b => as=-
		17s unidentify c
	`},
}
