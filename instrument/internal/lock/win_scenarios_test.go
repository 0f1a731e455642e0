package lock

// wins are what a win says about other terms, and what observations say.
var wins = []scenario{
	{"a win proves the end of the term before it", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		45s begin => entered ended=40 left=-5s pending=1 a.active=- active=-
		46s win b may-renew token=3 => ends-a a=expired acquired=2 active=1 b=held b.active=true b.end=1m15s expiry=75 left=29s over=expired:1 ran=1/30 token=3 took=2/1 won=46 pending=-
		46s ends => active 1m15s
		80s begin => entered ended=75 left=-5s pending=1 active=- b.active=-
		81s win c may-renew token=2 => ends-b acquired=3 active=1 b=expired c=held c.active=true c.end=1m50s expiry=110 left=29s over=expired:2 ran=2/59 regressed=1 token=2 took=3/2 won=81 pending=-
		82s fence c 4 => left=28s token=4
	`},
	{"a win beside an open term of unknown end ends nothing", Params{Hold: true}, `
		10s begin => entered pending=1
		10s win a => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		20s begin => entered pending=1
		20s win b => acquired=2 active=2 b=held b.active=true took=2/0 won=20 pending=-
		21s ends => active
	`},
	{"a win beside a term that holds ends nothing", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s begin => entered left=20s pending=1
		20s win b => acquired=2 active=2 b=held b.active=true b.end=50s took=2/0 won=20 pending=-
		21s ends => active 40s left=19s
		40s look-on => a=lapsed active=1 ended=40 expiry=50 left=10s over=expired:1 a.active=-
		41s ends => active 50s left=9s
		50s look-on => b=lapsed ended=50 over=expired:2 active=- b.active=- expiry=- left=-
	`},
	{"slots of a group", Params{Lease: lease, MaxLeaders: 2}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew token=5 => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s token=5 took=1/0 won=10 pending=-
		20s begin => entered left=20s pending=1
		20s win b may-renew token=4 => acquired=2 active=2 b=held b.active=true b.end=50s token=4 took=2/0 won=20 pending=-
		21s ends => active 40s left=19s
		45s begin => entered active=1 ended=40 left=-5s pending=1 a.active=-
		45s win c may-renew token=9 => ends-a a=expired acquired=3 active=2 c=held c.active=true c.end=1m15s expiry=50 left=5s over=expired:1 ran=1/30 token=9 took=3/0 won=45 pending=-
		50s begin => entered active=1 ended=50 left=0s pending=1 b.active=-
		50s win d may-renew => ends-b acquired=4 active=2 b=expired d=held d.active=true d.end=1m20s expiry=75 left=25s over=expired:2 ran=2/60 took=4/0 won=50 pending=-
		51s ends => active 1m15s left=24s
	`},
	{"of the slots whose end has passed, the earliest goes first", Params{MaxLeaders: 2}, `
		10s begin => entered pending=1
		10s win a may-renew end=45s length=40s => a=held a.active=true a.end=45s acquired=1 active=1 expiry=45 lease=40s left=35s took=1/0 won=10 pending=-
		11s begin => entered left=34s pending=1
		11s win b may-renew end=40s length=40s => acquired=2 active=2 b=held b.active=true b.end=40s expiry=40 left=29s took=2/0 won=11 pending=-
		50s begin => entered ended=45 left=-10s pending=1 a.active=- active=- b.active=-
		50s win c => ends-b acquired=3 active=1 b=expired c=held c.active=true expiry=45 left=-5s over=expired:1 ran=1/29 took=3/0 won=50 pending=-
		51s begin => entered left=-6s pending=1
		51s win d => ends-a a=expired acquired=4 active=2 d=held d.active=true over=expired:2 ran=2/64 took=4/0 won=51 expiry=- left=- pending=-
	`},
	{"of slots that end together, the older goes first", Params{MaxLeaders: 2}, `
		10s begin => entered pending=1
		10s win b may-renew end=45s length=40s => acquired=1 active=1 b=held b.active=true b.end=45s expiry=45 lease=40s left=35s took=1/0 won=10 pending=-
		11s begin => entered left=34s pending=1
		11s win a may-renew end=45s length=40s => a=held a.active=true a.end=45s acquired=2 active=2 took=2/0 won=11 pending=-
		50s begin => entered ended=45 left=-5s pending=1 a.active=- active=- b.active=-
		50s win c => ends-b acquired=3 active=1 b=expired c=held c.active=true over=expired:1 ran=1/35 took=3/0 won=50 pending=-
	`},
	{"lapsed terms go before those that may be renewed", Params{MaxLeaders: 2}, `
		10s begin => entered pending=1
		10s win a may-renew end=40s length=40s => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 lease=40s left=30s took=1/0 won=10 pending=-
		11s begin => entered left=29s pending=1
		11s win b owned end=45s length=10s => acquired=2 active=2 b=held b.active=true b.end=45s lease=10s took=2/0 won=11 pending=-
		50s begin => entered b=lapsed b.told=1 ended=45 left=-10s over=expired:1 pending=1 a.active=- active=- b.active=-
		50s win c => ends-b acquired=3 active=1 c=held c.active=true took=3/0 won=50 pending=-
		51s begin => entered left=-11s pending=1
		51s win d => ends-a a=expired acquired=4 active=2 d=held d.active=true over=expired:2 ran=1/30 took=4/0 won=51 expiry=- left=- pending=-
	`},
	{"of slots without a known end, the older goes first", Params{MaxLeaders: 2, KeepUntilExpiry: true}, `
		10s begin => entered pending=1
		10s win b => acquired=1 active=1 b=held b.active=true took=1/0 won=10 pending=-
		11s begin => entered pending=1
		11s win a => a=held a.active=true acquired=2 active=2 took=2/0 won=11 pending=-
		50s begin => entered pending=1
		50s win c => ends-b acquired=3 b=expired c=held c.active=true ended=50 over=expired:1 ran=1/40 took=3/0 won=50 b.active=- pending=-
		51s begin => entered pending=1
		51s win d end=52s => ends-a a=expired acquired=4 d=held d.active=true d.end=52s ended=51 expiry=52 lease=1s over=expired:2 ran=2/80 took=4/0 won=51 a.active=- pending=-
		52s begin => entered active=1 d=lapsed ended=52 over=expired:3 pending=1 d.active=- expiry=-
		53s win e => ends-d acquired=5 active=2 e=held e.active=true took=5/1 won=53 pending=-
	`},
	{"a slot whose end has passed goes before one without a known end", Params{MaxLeaders: 2, KeepUntilExpiry: true}, `
		10s begin => entered pending=1
		10s win a => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		11s begin => entered pending=1
		11s win b end=20s => acquired=2 active=2 b=held b.active=true b.end=20s expiry=20 lease=9s took=2/0 won=11 pending=-
		12s body b x => b.bodies=1 left=8s running=1
		30s begin => entered active=1 afterloss=10s ended=20 left=-10s overran=1 pending=1 unlogged=1 b.active=-
		30s win c => ends-b acquired=3 active=2 b=expired c=held c.active=true over=expired:1 took=3/0 won=30 expiry=- left=- pending=-
		31s begin => entered afterloss=11s pending=1
		31s win d => ends-a a=expired acquired=4 d=held d.active=true ended=31 over=expired:2 ran=1/21 took=4/0 won=31 a.active=- pending=-
		32s done b x => afterloss=12s ran=2/41 b.bodies=- running=-
	`},
	{"a slot that was stopped has made room", Params{Lease: lease, MaxLeaders: 2}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		11s begin => entered left=29s pending=1
		11s win b may-renew => acquired=2 active=2 b=held b.active=true b.end=41s took=2/0 won=11 pending=-
		12s stop b => stopped active=1 b=stopped left=28s b.active=-
		45s begin => entered ended=40 left=-5s pending=1 a.active=- active=-
		45s win c may-renew => acquired=3 active=1 c=held c.active=true c.end=1m15s took=3/0 won=45 pending=-
	`},
	{"an attempt that waited longer than the lease says nothing of its end", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		39999ms win a => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=1ms took=1/29.999 won=39.999 pending=-
		60s release a ok => ended a=lapsed a.freed=true ended=40 gave=ok:1 over=expired:1 overran=1 ran=1/20.001 unlogged=1 used=1/1.66667 a.active=- active=- expiry=- left=-
		70s begin => entered pending=1
		100s win b => acquired=2 active=1 b=held b.active=true took=2/59.999 won=100 pending=-
		200s release b ok => ended b=released b.freed=true ended=200 gave=ok:2 over=released:1,expired:1 ran=2/120.001 active=- b.active=-
	`},
	{"a wait ahead of a lease whose end is known", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		60s win a end=80s => a=held a.active=true a.end=1m20s acquired=1 active=1 expiry=80 left=20s took=1/50 won=60 pending=-
		70s release a ok => ended a=released a.freed=true ended=70 gave=ok:1 over=released:1 ran=1/10 used=1/0.666667 a.active=- active=- expiry=- left=-
	`},
	{"a lease that began after its answer", Params{}, `
		10s begin => entered pending=1
		12s win a end=100s length=30s => a=held a.active=true a.end=1m40s acquired=1 active=1 expiry=100 lease=30s left=1m28s took=1/2 won=12 pending=-
		15s release a ok => ended a=released a.freed=true ended=15 gave=ok:1 over=released:1 ran=1/3 used=1/0.0340909 a.active=- active=- expiry=- left=-
	`},
	{"where the length is unknown, a short attempt is the beginning of the lease", Params{}, `
		100s begin => entered pending=1
		101s win a end=201s => a=held a.active=true a.end=3m21s acquired=1 active=1 expiry=201 lease=1m41s left=1m40s took=1/1 won=101 pending=-
		141s release a ok => ended a=released a.freed=true ended=141 gave=ok:1 over=released:1 ran=1/40 used=1/0.405941 a.active=- active=- expiry=- left=-
		200s begin => entered pending=1
		202s win b end=302s => acquired=2 active=1 b=held b.active=true b.end=5m2s expiry=302 left=1m40s took=2/3 won=202 pending=-
		242s release b ok => ended b=released b.freed=true ended=242 gave=ok:2 over=released:2 ran=2/80 used=2/0.805941 active=- b.active=- expiry=- left=-
	`},
	{"a lease that had ended when its answer was there", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		20s win a end=15s => at-once a=lapsed a.end=15s acquired=1 ended=15 over=expired:1 took=1/10 won=20 pending=-
		30s begin => entered pending=1
		30s win b end=30s => at-once ends-a acquired=2 b=lapsed b.end=30s ended=30 over=expired:2 took=2/10 won=30 pending=-
	`},
	{"a campaign whose session had lapsed before it won", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		12s dead a => a=lost failed=session_lost:1 took=1/2 pending=-
		13s body a x => a.bodies=1 running=1
		15s done a x error => afterloss=2s broke=error:1 ran=1/2 a.bodies=- running=-
		16s release a ok => not-ended a.freed=true gave=ok:1
		20s begin k => pending=1
		21s dead b by=k => b=lost failed=session_lost:2 took=2/3 pending=-
		22s dead c by=k => c=lost
	`},
	{"a lease beyond the horizon has no end", Params{Lease: Horizon + 1}, `
		10s begin => entered lease=876000h0m0.000000001s pending=1
		10s win a => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		99h look-on
		100h release a ok => ended a=released a.freed=true ended=360000 gave=ok:1 over=released:1 ran=1/359990 a.active=- active=-
	`},
	{"the earliest end that is known counts, whichever term has it", Params{MaxLeaders: 3}, `
		10s begin => entered pending=1
		10s win a => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		11s begin => entered pending=1
		11s win b end=50s => acquired=2 active=2 b=held b.active=true b.end=50s expiry=50 lease=39s left=39s took=2/0 won=11 pending=-
		12s begin => entered left=38s pending=1
		12s win c end=60s => acquired=3 active=3 c=held c.active=true c.end=1m0s lease=48s took=3/0 won=12 pending=-
		13s ends => active 50s left=37s
		14s release b ok => ended active=2 b=released b.freed=true ended=14 expiry=60 gave=ok:1 left=46s over=released:1 ran=1/3 used=1/0.0769231 b.active=-
		14s ends => active 1m0s
		15s release c ok => ended active=1 c=released c.freed=true ended=15 gave=ok:2 over=released:2 ran=2/6 used=2/0.139423 c.active=- expiry=- left=-
		15s ends => active
	`},
	{"the shortest leases", Params{Lease: 1}, `
		10s begin => entered lease=1ns pending=1
		10s win a may-renew => a=held a.active=true a.end=10.000000001s acquired=1 active=1 expiry=10.000000001 left=1ns took=1/0 won=10 pending=-
		20s begin => entered a=lapsed ended=10.000000001 over=expired:1 pending=1 a.active=- active=- expiry=- left=-
		20s win b renews length=1ns => ends-a acquired=2 active=1 b=held b.active=true b.end=20.000000001s expiry=20.000000001 left=1ns took=2/0 won=20 pending=-
		20s renew b ok sent=20s length=1ns => recorded asked=1/0 renewed=ok:1 used=1/0
		30s begin => entered b=lapsed ended=20.000000001 over=expired:2 overran=1 pending=1 unlogged=1 active=- b.active=- expiry=- left=-
		30s win c observed end=40s => ends-b acquired=3 active=1 c=held c.active=true c.end=40s c.observed=true expiry=40 left=10s took=3/0 won=30 pending=-
		31s look asked=31s end=50s length=1ns => c.end=50s expiry=50 left=19s renewed=ok:2 used=2/0.1
		32s look end=50s length=1ns => left=18s
	`},
	{"a term that is released before its win is recorded", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		11s release a error => ended a=release_failed age=1s
		12s win a owned => a.end=40s acquired=1 ended=12 gave=error:1 over=release_failed:1 ran=1/0 took=1/2 won=12 age=- pending=-
		13s release a ok => not-ended a.freed=true gave=ok:1,error:1
		14s idle => idle
	`},
	{"a term that is lost before its win is recorded, with a body", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s body a x => a=unrecorded a.active=true a.bodies=1
		11s lost a gone => ended a=lost age=1s a.active=-
		12s win a => a.end=40s acquired=1 afterloss=1s ended=12 over=lost:1 running=1 took=1/2 won=12 age=- pending=-
		14s done a x => afterloss=3s ran=1/4 a.bodies=- running=-
		15s idle => idle
	`},
	{"a body that begins before the win is recorded", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		11s body a x => a=unrecorded a.active=true a.bodies=1 age=1s
		12s win a => a=held a.end=40s acquired=1 active=1 expiry=40 left=28s running=1 took=1/2 won=12 age=- pending=-
		14s done a x => left=26s ran=1/3 a.bodies=- running=-
	`},
	{"a body that begins before it is known that the lease was lost before", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		11s body a x => a=unrecorded a.active=true a.bodies=1 age=1s
		12s dead a => a=lost failed=session_lost:1 running=1 took=1/2 a.active=- age=- pending=-
		13s look-on => afterloss=1s
		14s done a x => afterloss=2s ran=1/3 a.bodies=- running=-
	`},
	{"a win that belongs to no attempt", Params{Lease: lease}, `
		10s win a since=9s => a=unrecorded a.active=true a.end=39s lease=30s
		11s body a x => a.bodies=1
		12s renew a ok sent=12s => recorded a.end=42s
		13s done a x => a.bodies=-
		14s fence a 3
		15s release a ok => ended a=released a.freed=true a.active=-
	`},
	{"tokens that go back", Params{Lease: lease, MaxLeaders: 1}, `
		10s begin => entered lease=30s pending=1
		10s win a token=7 => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s token=7 took=1/0 won=10 pending=-
		11s fence a 7 => left=29s
		12s fence a 6 => left=28s regressed=1 token=6
		13s fence a 6 => left=27s
	`},
	{"an observed lock", Params{}, `
		10s begin => entered pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s seen=true took=1/0 won=10 pending=-
		10s sight asked=10s end=40s
		20s look asked=20s end=50s => a.end=50s expiry=50 renewed=ok:1
		21s look asked=21s end=50s => left=29s
		22s look asked=22s end=50001ms => a.end=50.001s expiry=50.001 left=28.001s
		23s look asked=22500ms end=50s => left=27.001s
		24s look asked=24s end=49998ms => a.end=49.998s expiry=49.998 left=25.998s
		25s look asked=25s => left=24.998s
		50s look asked=50s => a=lapsed ended=49.998 over=expired:1 overran=1 unlogged=1 a.active=- a.end=- a.observed=- active=- expiry=- left=-
		51s look asked=51s end=60s length=20s
	`},
	{"the first look tells the length of the lease", Params{}, `
		10s begin => entered pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s seen=true took=1/0 won=10 pending=-
		10s sight asked=10s end=40s length=20s => lease=20s seen=-
		30s release a ok => ended a=released a.freed=true ended=30 gave=ok:1 over=released:1 ran=1/20 used=1/0.5 a.active=- a.observed=- active=- expiry=- left=-
	`},
	{"an end within the time that the look took is the same end", Params{}, `
		10s begin => entered pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s seen=true took=1/0 won=10 pending=-
		10s sight asked=8s end=40s
		20s look asked=20s end=42001ms => a.end=42.001s expiry=42.001 left=22.001s
		21s look asked=21s end=42002ms => a.end=42.002s expiry=42.002 left=21.002s
		22s look asked=22s end=42004ms => a.end=42.004s expiry=42.004 left=20.004s renewed=ok:1
		23s look asked=22s end=42003ms => left=19.004s
		24s look asked=24s end=41003ms => a.end=41.003s expiry=41.003 left=17.003s
		25s look asked=25s end=43s => a.end=43s expiry=43 left=18s renewed=ok:2
	`},
	{"a look whose beginning is unknown may be wrong by a tenth of the lease", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		10s sight end=40s
		20s look end=43s => a.end=43s expiry=43 left=23s
		21s look end=46001ms => a.end=46.001s expiry=46.001 left=25.001s renewed=ok:1 used=1/0.266667
		22s look length=100s end=56002ms => a.end=56.002s expiry=56.002 lease=1m40s left=34.002s renewed=ok:2 used=2/0.466633
		23s look end=66002ms => a.end=1m6.002s expiry=66.002 left=43.002s
	`},
	{"a look of which nothing is known may be wrong by a second", Params{}, `
		10s begin => entered pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s seen=true took=1/0 won=10 pending=-
		10s sight end=40s
		20s look end=41s => a.end=41s expiry=41 left=21s
		21s look end=42001ms => a.end=42.001s expiry=42.001 left=21.001s renewed=ok:1
	`},
	{"an end that a look moves back", Params{}, `
		10s begin => entered pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s seen=true took=1/0 won=10 pending=-
		10s sight asked=10s end=40s
		20s look asked=20s end=39999ms => left=20s
		21s look asked=21s end=39998ms => a.end=39.998s expiry=39.998 left=18.998s
		22s look asked=22s end=22s => a=lapsed a.end=22s ended=22 over=expired:1 a.active=- a.observed=- active=- expiry=- left=-
	`},
	{"a lease that is observed to have no end", Params{}, `
		10s begin => entered pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s seen=true took=1/0 won=10 pending=-
		20s look endless => a.end=- expiry=- left=-
		50s look end=60s => a.end=1m0s expiry=60 left=10s
		60s look-on => a=lapsed ended=60 over=expired:1 a.active=- a.observed=- active=- expiry=- left=-
	`},
	{"an observed term whose end is unknown", Params{}, `
		10s begin => entered pending=1
		10s win a observed => a=held a.active=true a.observed=true acquired=1 active=1 took=1/0 won=10 pending=-
		10s sight asked=10s
		20s look asked=20s
		30s look asked=30s end=45s => a.end=45s expiry=45 left=15s seen=true
		44s look asked=44s => left=1s
		45s look asked=45s => a=lapsed ended=45 over=expired:1 a.active=- a.end=- a.observed=- active=- expiry=- left=-
		46s look asked=46s end=60s
		70s look asked=70s end=80s
	`},
	{"no leader is seen", Params{}, `
		10s look asked=9s
		11s sight asked=10s end=40s
		12s look asked=12s end=50s
	`},
	{"an observed term that is released by another", Params{Lease: lease, Hold: true}, `
		10s begin => entered lease=30s pending=1
		10s win a observed end=40s => a=held a.active=true a.end=40s a.observed=true acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s lost a gone => ended a=lost ended=20 over=lost:1 ran=1/10 a.active=- a.observed=- active=- expiry=- left=-
		21s look asked=20s end=50s
	`},
}
