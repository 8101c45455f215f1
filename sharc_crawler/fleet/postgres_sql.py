"""| The statements of the PostgreSQL ledger. Each is committed by itself."""

from __future__ import annotations

NOW = "extract(epoch FROM clock_timestamp())::float8"

#: of any version, to ask which it is
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('sharc fleet', 0))"
HAS_TABLES = "SELECT to_regclass('fleet_meta') IS NOT NULL"
KNOWN = "SELECT value FROM fleet_meta WHERE name = 'version'"
NOTE_VERSION = """
INSERT INTO fleet_meta VALUES ('version', %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""

#: whether other sites have asked the machine of a site's name within the hour
SHARED = f"EXISTS (SELECT FROM fleet_pace WHERE machine = fleet_site.site AND asked > {NOW} - 3600)"

ADD = """
INSERT INTO fleet_site (site, arguments, priority, due, epoch)
SELECT site, arguments, priority, due, (SELECT value FROM fleet_meta WHERE name = 'floor')
FROM unnest(%s::text[], %s::text[], %s::integer[], %s::float8[]) AS new(site, arguments, priority, due)
ON CONFLICT DO NOTHING
"""
FREE_NOW, _SUSPECT = "owner IS NULL", "silent > 0 AND seq <= began + 1"
SILENT = f"""
owner IS NOT NULL AND expires < {NOW} AND (NOT ({_SUSPECT}) OR site = (
    SELECT site FROM fleet_site WHERE state = 'waiting' AND wish <> 'pause' AND owner IS NOT NULL AND expires < {NOW}
        AND {_SUSPECT} ORDER BY priority DESC, due LIMIT 1)
    AND NOT EXISTS (SELECT FROM fleet_site WHERE owner = %(worker)s AND expires >= {NOW} AND silent > 1
        AND seq <= began + 1))
"""
CLAIM = f"""
WITH free AS (
    SELECT site, owner FROM fleet_site
    WHERE state = 'waiting' AND wish <> 'pause' AND due <= {NOW} AND {{which}}
    ORDER BY priority DESC, due LIMIT %(most)s FOR UPDATE SKIP LOCKED)
UPDATE fleet_site SET epoch = epoch + 1, owner = %(worker)s, expires = {NOW} + %(term)s, stepped = {NOW},
    takeovers = takeovers + (free.owner IS NOT NULL)::integer, reason = '', began = seq,
    silent = CASE WHEN free.owner IS NOT NULL AND seq <= began + 1 THEN silent + 1 ELSE 0 END
FROM free WHERE fleet_site.site = free.site
RETURNING fleet_site.site, arguments, round, epoch, seq, wish, {NOW}, free.owner, {SHARED}, silent
"""
#: the fence and the write: no clock, and no pause between them, lets an old owner write. Rows are locked in one order
STEP = f"""
WITH new AS (
    SELECT * FROM unnest(%(site)s::text[], %(epoch)s::bigint[], %(seq)s::bigint[], %(body)s::bytea[],
                         %(pages)s::bigint[], %(visits)s::bigint[], %(size)s::bigint[])
        AS new(site, epoch, seq, body, pages, visits, size)),
held AS (
    SELECT fleet_site.site FROM fleet_site JOIN new ON fleet_site.site = new.site
        AND fleet_site.epoch = new.epoch AND fleet_site.seq = new.seq - 1
    ORDER BY fleet_site.site FOR UPDATE OF fleet_site),
moved AS (
    UPDATE fleet_site SET seq = new.seq, expires = {NOW} + %(term)s, stepped = {NOW},
        pages = new.pages, visits = new.visits, size = new.size
    FROM new, held WHERE fleet_site.site = new.site AND held.site = new.site
        AND fleet_site.epoch = new.epoch AND fleet_site.seq = new.seq - 1
    RETURNING fleet_site.site, fleet_site.seq, fleet_site.epoch, new.body)
INSERT INTO fleet_journal (site, seq, epoch, body) SELECT site, seq, epoch, body FROM moved RETURNING site
"""
WRITTEN = """
SELECT site FROM fleet_site JOIN unnest(%(site)s::text[], %(epoch)s::bigint[], %(seq)s::bigint[])
    AS new(site, epoch, seq) USING (site, epoch, seq)
"""
RENEW = f"""
WITH mine AS (
    SELECT fleet_site.site FROM fleet_site JOIN unnest(%(sites)s::text[], %(epochs)s::bigint[]) AS mine(site, epoch)
        USING (site, epoch)
    WHERE owner = %(worker)s ORDER BY fleet_site.site FOR UPDATE OF fleet_site)
UPDATE fleet_site SET expires = {NOW} + %(term)s FROM mine WHERE fleet_site.site = mine.site
RETURNING fleet_site.site, wish, {SHARED}
"""
#: who held these before is heard of again, as when the database was away: neither they nor those before ended
LIVED = """
UPDATE fleet_site SET silent = least(silent, fleet_site.epoch - mine.epoch - 1)
FROM unnest(%(sites)s::text[], %(epochs)s::bigint[]) AS mine(site, epoch)
WHERE fleet_site.site = mine.site AND fleet_site.epoch > mine.epoch AND silent >= fleet_site.epoch - mine.epoch
"""
RESERVE = f"""
WITH wanted AS (
    SELECT machine, gap, own, NOT own AND EXISTS (
        SELECT FROM fleet_site WHERE site = machine AND state = 'waiting') AS owned
    FROM unnest(%(machines)s::text[], %(gaps)s::float8[], %(owns)s::boolean[]) AS wanted(machine, gap, own))
INSERT INTO fleet_pace AS known (machine, due, gap, asked)
SELECT machine, {NOW} + gap + CASE WHEN owned THEN %(term)s ELSE 0 END, gap, CASE WHEN own THEN 0 ELSE {NOW} END
FROM wanted ORDER BY machine
ON CONFLICT (machine) DO UPDATE SET gap = excluded.gap, asked = greatest(known.asked, excluded.asked),
    due = CASE WHEN excluded.asked = 0 OR known.asked > excluded.asked - 3600
        THEN greatest(known.due, {NOW}) + excluded.gap ELSE greatest(known.due + excluded.gap, excluded.due) END
RETURNING machine, due - gap - {NOW}
"""
SEEN = f"""
INSERT INTO fleet_worker (worker, held, room, seen, expires, superseded, skew)
VALUES (%(worker)s, %(held)s, %(room)s, {NOW}, {NOW} + %(term)s, %(superseded)s, %(skew)s)
ON CONFLICT (worker) DO UPDATE SET held = excluded.held, room = excluded.room, seen = excluded.seen,
    expires = excluded.expires, superseded = excluded.superseded, skew = excluded.skew
RETURNING draining
"""
#: where the database's clock was set back, what it gave before begins anew, for owners to renew: terms, and, earlier by
#: what is known of how far, turns. By one alone: the next one finds nobody who was seen in times to come
ANEW = f"""
WITH was AS (SELECT worker, seen, expires - seen AS term FROM fleet_worker WHERE seen > {NOW} ORDER BY 1 FOR UPDATE),
workers AS (
    UPDATE fleet_worker SET seen = {NOW}, expires = {NOW} + was.term FROM was WHERE fleet_worker.worker = was.worker),
turns AS (
    SELECT machine, (SELECT max(seen) FROM was) - {NOW} AS back FROM fleet_pace
    WHERE due > {NOW} AND EXISTS (SELECT FROM was) ORDER BY machine FOR UPDATE),
paces AS (
    UPDATE fleet_pace SET due = due - back FROM turns WHERE fleet_pace.machine = turns.machine),
held AS (SELECT site, term FROM fleet_site JOIN was ON owner = worker FOR UPDATE OF fleet_site SKIP LOCKED)
UPDATE fleet_site SET expires = least(expires, {NOW} + term) FROM held WHERE fleet_site.site = held.site
"""
ALIVE = f"SELECT worker, held, room FROM fleet_worker WHERE expires > {NOW} AND NOT draining"
FREE = f"""
SELECT EXISTS (SELECT FROM fleet_site WHERE state = 'waiting' AND wish <> 'pause' AND due <= {NOW} AND owner IS NULL)
"""
BOUND = """
INSERT INTO fleet_budget (what, bound) SELECT * FROM unnest(%(whats)s::text[], %(bounds)s::float8[])
ON CONFLICT (what) DO UPDATE SET bound = excluded.bound
"""
UNBOUND = "DELETE FROM fleet_budget WHERE what = ANY(%s::text[])"
BUDGET = "SELECT what, bound, spent FROM fleet_budget ORDER BY what DESC"
DRAW = f"""
WITH wanted (what, amount) AS (VALUES ('requests', %(requests)s::float8), ('bytes', %(size)s::float8)),
known AS (
    SELECT fleet_budget.what, bound, spent, amount FROM fleet_budget JOIN wanted USING (what)
    WHERE amount <> 0 ORDER BY what FOR UPDATE OF fleet_budget),
given AS (
    SELECT what, spent, CASE WHEN amount < 0 THEN amount ELSE least(amount, greatest(bound - spent, 0)) END AS amount
    FROM known),
drawn AS (UPDATE fleet_budget SET spent = given.spent + given.amount FROM given WHERE fleet_budget.what = given.what)
SELECT fleet_budget.what, bound - {NOW}, coalesce(amount, 0) FROM fleet_budget LEFT JOIN given USING (what)
"""
FURTHER = "UPDATE fleet_site SET round = round + 1 WHERE site = %s AND epoch = %s AND seq = 0"
RELEASE = f"""
UPDATE fleet_site SET owner = NULL, expires = 0, state = %(state)s, reason = %(reason)s,
    due = CASE WHEN %(rest)s::float8 > 0 THEN {NOW} + %(rest)s::float8 ELSE due END
WHERE site = %(site)s AND epoch = %(epoch)s AND owner IS NOT NULL
"""
JOURNAL = """
SELECT seq, body FROM fleet_journal WHERE site = %s AND seq > %s AND seq <= %s ORDER BY seq LIMIT %s
"""
MERGED = "SELECT coalesce(max(seq), 0) FROM fleet_journal WHERE site = %s AND merged"
MERGE = """
WITH held AS (SELECT site FROM fleet_site WHERE site = %(site)s AND epoch = %(epoch)s FOR UPDATE),
gone AS (DELETE FROM fleet_journal USING held WHERE fleet_journal.site = held.site AND seq > %(after)s
    AND seq < %(upto)s)
UPDATE fleet_journal SET body = %(body)s, merged = true FROM held
WHERE fleet_journal.site = held.site AND seq = %(upto)s
"""
FORGET = """
WITH held AS (SELECT site FROM fleet_site WHERE site = %(site)s AND epoch = %(epoch)s FOR UPDATE),
gone AS (DELETE FROM fleet_journal USING held WHERE fleet_journal.site = held.site)
SELECT count(*) FROM held
"""
HISTORY = "SELECT body FROM fleet_history WHERE site = %s ORDER BY epoch"
MASKS = "SELECT masks FROM fleet_history WHERE site = %s AND masks <> '' ORDER BY epoch DESC LIMIT 1"
REMEMBER = """
WITH held AS (SELECT site, epoch FROM fleet_site WHERE site = %(site)s AND epoch = %(epoch)s FOR UPDATE),
kept AS (INSERT INTO fleet_history SELECT site, epoch, %(body)s, %(masks)s FROM held ON CONFLICT DO NOTHING)
SELECT count(*) FROM held
"""
ROBOTS = f"SELECT read, text FROM fleet_robots WHERE host = %s AND read > {NOW} - %s"
KEEP_ROBOTS = f"""
INSERT INTO fleet_robots VALUES (%s, {NOW}, %s)
ON CONFLICT (host) DO UPDATE SET read = excluded.read, text = excluded.text
"""
#: what nobody has begun and is to stop has stopped
WISH = """
UPDATE fleet_site SET wish = %(wish)s,
    state = CASE WHEN %(wish)s = 'stop' AND seq = 0 AND owner IS NULL THEN 'stopped' ELSE state END
WHERE state = 'waiting' AND (site = ANY(%(sites)s::text[])
    OR %(sites)s::text[] IS NULL AND (wish <> %(wish)s OR %(wish)s = 'stop'))
"""
#: one whose capture is over begins again, as a further round; its owner of before is none any more
REQUEUE = """
WITH ended AS (
    SELECT site, state, seq FROM fleet_site WHERE state <> 'waiting'
        AND CASE WHEN %(sites)s::text[] IS NULL THEN state = 'failed' ELSE site = ANY(%(sites)s::text[]) END
    FOR UPDATE),
again AS (
    SELECT site, state = 'done' OR seq > 0 AND NOT EXISTS (SELECT FROM fleet_journal WHERE site = ended.site) AS over
    FROM ended),
gone AS (DELETE FROM fleet_journal USING again WHERE fleet_journal.site = again.site AND again.over)
UPDATE fleet_site SET state = 'waiting', wish = 'run', reason = '', epoch = epoch + 1,
    round = round + again.over::integer, seq = CASE WHEN again.over THEN 0 ELSE seq END,
    pages = CASE WHEN again.over THEN 0 ELSE pages END, visits = CASE WHEN again.over THEN 0 ELSE visits END,
    size = CASE WHEN again.over THEN 0 ELSE size END
FROM again WHERE fleet_site.site = again.site
"""
DROP = """
WITH dropped AS (DELETE FROM fleet_site WHERE site = ANY(%(sites)s::text[]) RETURNING epoch),
floor AS (UPDATE fleet_meta SET value = greatest(value, (SELECT max(epoch) FROM dropped))
    WHERE name = 'floor' AND EXISTS (SELECT FROM dropped))
SELECT count(*) FROM dropped
"""
DRAIN = "UPDATE fleet_worker SET draining = true WHERE worker = %s"
LEAVE = "DELETE FROM fleet_worker WHERE worker = %s"

_SEEN_STATE = """
CASE WHEN state <> 'waiting' THEN state WHEN wish = 'pause' THEN 'paused' WHEN owner IS NOT NULL THEN 'held'
ELSE 'waiting' END
"""
STATES = f"""
SELECT {_SEEN_STATE}, count(*), sum(pages)::bigint, sum(visits)::bigint, sum(size)::bigint, sum(takeovers)::bigint,
    max({NOW} - stepped) FILTER (WHERE owner IS NOT NULL)
FROM fleet_site GROUP BY 1
"""
WORKERS = f"""
SELECT worker, CASE WHEN expires > {NOW} THEN held ELSE 0 END, room, {NOW} - seen, draining, superseded, skew
FROM fleet_worker ORDER BY worker
"""
SITES = f"""
SELECT site, {_SEEN_STATE}, round, epoch, owner, CASE WHEN owner IS NOT NULL THEN expires - {NOW} END, seq, pages,
    visits, size, {NOW} - stepped, priority, due, reason
FROM fleet_site WHERE %(sites)s::text[] IS NULL OR site = ANY(%(sites)s::text[])
ORDER BY owner IS NULL, state <> 'failed', state <> 'waiting', priority DESC, due, site LIMIT %(most)s
"""
CLOCK = f"SELECT {NOW}"
