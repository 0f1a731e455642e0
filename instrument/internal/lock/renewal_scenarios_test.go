package lock

// renewals are what moves the end of a lease, and what is not known of it.
var renewals = []scenario{
	{"renewals move the end and are counted by result", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s renew a ok sent=19s => recorded a.end=49s asked=1/1 expiry=49 left=29s renewed=ok:1 used=1/0.333333
		21s renew a error sent=20s => recorded asked=2/2 left=28s renewed=ok:1,error:1
		22s renew a timeout => recorded left=27s renewed=ok:1,error:1,timeout:1
		23s renew a canceled sent=22s => recorded asked=3/3 left=26s renewed=ok:1,error:1,timeout:1,canceled:1
		24s renew a ok end=70s => recorded a.end=1m10s expiry=70 left=46s renewed=ok:2,error:1,timeout:1,canceled:1 used=2/0.5
		25s renew a ok sent=25s end=80s length=60s => recorded a.end=1m20s asked=4/3 expiry=80 lease=1m0s left=55s renewed=ok:3,error:1,timeout:1,canceled:1 used=3/0.521739
		26s renew a lost sent=25500ms => recorded ended a=lost asked=5/3.5 ended=26 over=lost:1 ran=1/16 renewed=ok:3,error:1,timeout:1,canceled:1,lost:1 a.active=- active=- expiry=- left=-
		27s renew a ok sent=27s => not-recorded
	`},
	{"a renewal that is answered while the release is under way is not counted", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s stop a => stopped a=stopped a.active=- active=- expiry=- left=-
		21s renew a ok sent=20s => not-recorded
		22s renew a error sent=21s => not-recorded
		23s released a ok => ended a=released a.freed=true ended=20 gave=ok:1 over=released:1 ran=1/10 used=1/0.333333
	`},
	{"an answer that is overtaken moves the end forward only", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s renew a ok sent=20s => recorded a.end=50s asked=1/0 expiry=50 renewed=ok:1 used=1/0.333333
		21s renew a ok sent=15s => recorded asked=2/6 left=29s renewed=ok:2
		22s renew a ok sent=15s end=55s => recorded a.end=55s asked=3/13 expiry=55 left=33s renewed=ok:3
		23s renew a ok sent=15s end=54s => recorded asked=4/21 left=32s renewed=ok:4
		24s renew a ok sent=20s end=56s => recorded a.end=56s asked=5/25 expiry=56 renewed=ok:5 used=2/0.447619
		25s renew a ok end=40s => recorded left=31s renewed=ok:6 used=3/0.478869
		26s renew a ok end=57s => recorded a.end=57s expiry=57 renewed=ok:7 used=4/0.541369
	`},
	{"an answer that the win overtook", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		20s win a renews end=45s length=30s => a=held a.active=true a.end=45s acquired=1 active=1 expiry=45 left=25s took=1/10 won=20 pending=-
		21s renew a ok sent=14s end=44s => recorded asked=1/7 left=24s renewed=ok:1
		22s renew a ok sent=14s end=46s => recorded a.end=46s asked=2/15 expiry=46 renewed=ok:2
		23s renew a ok sent=15s end=44s => recorded a.end=44s asked=3/23 expiry=44 left=21s renewed=ok:3 used=1/0.258065
	`},
	{"an answer of before the win says nothing of a lease without a known end", Params{}, `
		10s begin => entered pending=1
		20s win a renews => a=held a.active=true acquired=1 active=1 took=1/10 won=20 pending=-
		21s renew a ok sent=9s end=40s => recorded asked=1/12 renewed=ok:1
		22s renew a ok sent=10s end=41s => recorded a.end=41s asked=2/24 expiry=41 lease=31s left=19s renewed=ok:2
	`},
	{"a renewal that was asked for and did not move its end", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		20s renew a ok end=40s asked => recorded a.end=50s expiry=50 renewed=ok:1 used=1/0.333333
		21s renew a ok sent=21s end=40s asked => recorded a.end=51s asked=1/0 expiry=51 renewed=ok:2 used=2/0.366667
		22s renew a ok sent=22s end=50s asked => recorded a.end=52s asked=2/0 expiry=52 renewed=ok:3 used=3/0.4
		23s renew a ok sent=23s end=60s asked => recorded a.end=1m0s asked=3/0 expiry=60 left=37s renewed=ok:4 used=4/0.433333
	`},
	{"a renewal that was asked for where the length is unknown", Params{}, `
		10s begin => entered pending=1
		10s win a renews end=40s => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 lease=30s left=30s took=1/0 won=10 pending=-
		20s renew a ok sent=20s end=40s asked => recorded a.end=50s asked=1/0 expiry=50 renewed=ok:1 used=1/0.333333
		21s renew a ok sent=21s end=55s asked => recorded a.end=55s asked=2/0 expiry=55 lease=34s left=34s renewed=ok:2 used=2/0.366667
		22s renew a ok sent=22s end=50s asked => recorded a.end=56s asked=3/0 expiry=56 renewed=ok:3 used=3/0.396078
	`},
	{"an end that has not moved stays where the length is unknown", Params{}, `
		10s begin => entered pending=1
		10s win a renews => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		20s renew a ok end=40s asked => recorded a.end=40s expiry=40 left=20s renewed=ok:1 seen=true
		21s renew a ok end=40s asked => recorded left=19s renewed=ok:2 used=1/0.05
		22s renew a ok end=39s asked => recorded left=18s renewed=ok:3 used=2/0.15
		23s renew a ok end=41s asked => recorded a.end=41s expiry=41 renewed=ok:4 used=3/0.3
	`},
	{"a renewal that finds a lock lost whose lease had ended is told, and revives nothing any more", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews owned => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		71s look-on => a=lapsed a.told=1 ended=40 over=expired:1 a.active=- active=- expiry=- left=-
		72s renew a lost sent=71s => not-recorded ended a=expired
		73s renew a lost sent=71s => not-recorded
		74s renew a ok sent=73s => not-recorded
	`},
	{"a held leadership that is left to a lease whose end a renewal makes known too late", Params{Lease: lease, Hold: true, KeepUntilExpiry: true}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew end=40s => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		50s renew a error sent=49s on-demand => not-recorded a=lapsed a.end=40s ended=40 over=expired:1 a.active=- active=-
		51s renew a lost sent=50s on-demand => not-recorded ended a=expired
		60s begin => entered pending=1
		60s win b may-renew end=90s => acquired=2 active=1 b=held b.active=true took=2/0 won=60 pending=-
		95s renew b lost sent=94s on-demand => not-recorded ended b=expired b.end=1m30s ended=90 over=expired:2 active=- b.active=-
		96s begin => entered pending=1
		96s win c may-renew end=98s => acquired=3 active=1 c=held c.active=true took=3/0 won=96 pending=-
		99s renew c ok sent=99s end=129s on-demand => recorded acquired=4 asked=1/0 c.end=2m9s ended=98 expiry=129 over=expired:3 renewed=ok:1 took=4/0 won=99
	`},
	{"only a renewal that succeeded revives a term, and none that was stopped", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		70s look-on => a=lapsed ended=40 over=expired:1 a.active=- active=- expiry=- left=-
		71s renew a error sent=70s => not-recorded
		72s renew a error sent=70s => not-recorded
		73s renew a ok sent=73s => recorded a=held a.active=true a.end=1m43s acquired=2 active=1 asked=1/0 expiry=103 left=30s renewed=ok:1 took=2/0 won=73
		104s begin => entered ended=103 left=-1s overran=1 pending=1 unlogged=1 a.active=- active=-
		104s win b => ends-a a=expired acquired=3 active=1 b=held b.active=true b.end=2m14s expiry=134 left=30s over=expired:2 ran=1/30 took=3/0 won=104 pending=-
		140s look-on => b=lapsed ended=134 over=expired:3 active=- b.active=- expiry=- left=-
		141s stop b => stopped
		142s renew b ok sent=142s => not-recorded
		143s released b ok => ended b.freed=true gave=ok:1 overran=2 ran=2/67 unlogged=2 used=1/1.23333
	`},
	{"a lease without an end", Params{}, `
		10s begin => entered pending=1
		10s win a renews endless length=30s => a=held a.active=true acquired=1 active=1 lease=30s seen=false took=1/0 won=10 pending=-
		20s renew a ok sent=20s endless => recorded asked=1/0 renewed=ok:1
		21s renew a ok sent=21s length=30s => recorded a.end=51s asked=2/0 expiry=51 left=30s renewed=ok:2 seen=-
		22s renew a ok sent=22s endless => recorded asked=3/0 renewed=ok:3 used=1/0.0333333 a.end=- expiry=- left=-
		99h look-on
	`},
	{"a granted length is known better than a declared one", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews length=20s => a=held a.active=true a.end=30s acquired=1 active=1 expiry=30 lease=20s left=20s took=1/0 won=10 pending=-
		20s renew a ok sent=20s => recorded a.end=40s asked=1/0 expiry=40 renewed=ok:1 used=1/0.5
		21s renew a ok sent=21s length=40s => recorded a.end=1m1s asked=2/0 expiry=61 lease=40s left=40s renewed=ok:2 used=2/0.55
		22s renew a ok sent=22s => recorded a.end=1m2s asked=3/0 expiry=62 renewed=ok:3 used=3/0.575
		23s renew a ok sent=23s length=876000h => recorded a.end=876000h0m23s asked=4/0 expiry=3.153600023e+09 lease=876000h0m0s left=876000h0m0s renewed=ok:4 used=4/0.6
		24s renew a ok sent=24s length=876001h => recorded asked=5/0 renewed=ok:5 used=5/0.6 a.end=- expiry=- left=-
		25s renew a ok sent=25s => recorded a.end=876000h0m25s asked=6/0 expiry=3.153600025e+09 left=876000h0m0s renewed=ok:6
	`},
	{"a length that is measured is kept to a millisecond, and jitter is no other length", Params{}, `
		10s begin => entered pending=1
		10s win a renews end=40s300us => a=held a.active=true a.end=40.0003s acquired=1 active=1 expiry=40.0003 lease=30s left=30.0003s took=1/0 won=10 pending=-
		20s renew a ok sent=20s end=50s200ms => recorded a.end=50.2s asked=1/0 expiry=50.2 left=30.2s renewed=ok:1 used=1/0.33333
		21s renew a ok sent=21s end=51s300ms => recorded a.end=51.3s asked=2/0 expiry=51.3 left=30.3s renewed=ok:2 used=2/0.366443
		22s renew a ok sent=22s end=52s301ms => recorded a.end=52.301s asked=3/0 expiry=52.301 lease=30.301s left=30.301s renewed=ok:3 used=3/0.399446
		23s renew a ok sent=23s end=52s900ms => recorded a.end=52.9s asked=4/0 expiry=52.9 left=29.9s renewed=ok:4 used=4/0.432448
		24s renew a ok end=70s => recorded a.end=1m10s expiry=70 left=46s renewed=ok:5 used=5/0.478684
		25s renew a ok sent=25s end=55s length=1s => recorded a.end=55s asked=5/0 expiry=55 lease=1s left=30s renewed=ok:6 used=6/0.500423
		26s renew a ok sent=26s end=86s => recorded a.end=1m26s asked=6/0 expiry=86 lease=1m0s left=1m0s renewed=ok:7 used=7/0.533757
	`},
	{"a held leadership has no end until its renewals are seen", Params{Lease: lease, Hold: true}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew end=40s => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		41s look-on
		42s ends => active
		50s renew a ok => recorded a.end=1m20s expiry=80 left=30s renewed=ok:1
		60s renew a ok sent=59s => recorded a.end=1m29s asked=1/1 expiry=89 left=29s renewed=ok:2 used=1/0.333333
		70s blind a => left=19s
		100s look-on => ended=89 left=-11s overran=1 unlogged=1 a.active=- active=-
		101s lost a gave-up => ended a=lost over=lost:1 ran=1/91 expiry=- left=-
	`},
	{"a held leadership whose first renewal fails", Params{Lease: lease, Hold: true}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew end=40s => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		20s renew a error sent=19s => recorded asked=1/1 renewed=error:1
		30s renew a ok sent=29s on-demand => recorded a.end=59s asked=2/2 expiry=59 left=29s renewed=ok:1,error:1 used=1/0.666667
		60s look-on => ended=59 left=-1s overran=1 unlogged=1 a.active=- active=-
		62s release a ok => ended a=expired a.freed=true gave=ok:1 over=expired:1 ran=1/52 used=2/1.76667 expiry=- left=-
	`},
	{"a holder that sends its renewals shows them, however they end", Params{Lease: lease, Hold: true}, `
		10s begin => entered lease=30s pending=1
		10s win a may-renew end=40s => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		20s renew a error sent=19s on-demand => recorded a.end=40s asked=1/1 expiry=40 left=20s renewed=error:1
		41s release a ok => ended a=expired a.freed=true ended=40 gave=ok:1 over=expired:1 overran=1 ran=1/31 unlogged=1 used=1/1.03333 a.active=- active=- expiry=- left=-
	`},
	{"renewals that cannot be seen after all", Params{Lease: lease, Hold: true}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		11s blind a => a.end=- expiry=- left=-
		50s release a ok => ended a=released a.freed=true ended=50 gave=ok:1 over=released:1 ran=1/40 a.active=- active=-
	`},
	{"a lock around one run whose renewals cannot be seen", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a renews => a=held a.active=true a.end=40s acquired=1 active=1 expiry=40 left=30s took=1/0 won=10 pending=-
		11s blind a => left=29s
		40s look-on => a=lapsed ended=40 over=expired:1 a.active=- active=- expiry=- left=-
	`},
	{"a lease that says that its renewals are hidden", Params{Lease: lease}, `
		10s begin => entered lease=30s pending=1
		10s win a hides end=40s => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		90s look-on
		91s release a ok => ended a=released a.freed=true ended=91 gave=ok:1 over=released:1 ran=1/81 a.active=- active=-
	`},
	{"a library that hides its renewals", Params{Lease: lease, Hidden: true}, `
		10s begin => entered lease=30s pending=1
		10s win a renews end=40s => a=held a.active=true acquired=1 active=1 took=1/0 won=10 pending=-
		20s renew a ok sent=20s => recorded asked=1/0 renewed=ok:1
		25s renew a ok sent=25s end=55s => recorded asked=2/0 renewed=ok:2
		90s look-on
		91s release a ok => ended a=released a.freed=true ended=91 gave=ok:1 over=released:1 ran=1/81 a.active=- active=-
	`},
}
