package redis

import (
	redis "github.com/redis/go-redis/v9"
)

// The scripts. Each runs whole or not at all as far as other clients see. All keys are in one slot; those that only a script can find, by the
// id in an answer, are not among its KEYS.

// safely is a part of scripts: try calls a command, and where a key holds a value of another type, which is not ours, removes it first.
const safely = `
local foreign = 0
local function try(...)
	local r = redis.pcall(...)
	if type(r) == 'table' and r.err then
		if not string.find(r.err, 'WRONGTYPE', 1, true) then error(r.err, 0) end
		foreign = foreign + 1
		redis.call('UNLINK', (select(2, ...)))
		return redis.call(...)
	end
	return r
end
`

// room is a part of scripts that a full server must not stop: a purge, and the beats of the keeper, which alone makes room. A full server refuses
// only a script's first write that needs memory. So room makes one, and where it is refused, another that needs none. It returns 1 then.
const room = `
local function room(head, log)
	local r = redis.pcall('HINCRBY', head, 'n', 0)
	if type(r) ~= 'table' or not r.err then return 0 end
	if not string.find(r.err, 'OOM', 1, true) then error(r.err, 0) end
	try('XTRIM', log, 'MAXLEN', '~', 1000000000)
	return 1
end
`

// beginHead is a part of scripts: begin returns the head, and makes one where there is none, after it has removed what an older one has left.
const beginHead = safely + `
local function begin(prefix, schema, space, check, secret, log, process)
	local h = try('HMGET', KEYS[1], 'schema', 'space', 'check', 'secret', 'log')
	if h[1] and h[5] then return h, 0 end
	for i = 0, 1023 do redis.call('UNLINK', prefix .. 'r:' .. i, prefix .. 's:' .. i) end
	redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[8])
	redis.call('HSET', KEYS[1], 'schema', schema, 'space', space, 'check', check, 'log', log, 'purges', 0, 'n', 0, 'last', '0-0')
	if secret ~= '' then redis.call('HSET', KEYS[1], 'secret', secret) end
	redis.call('SET', KEYS[2], log .. ':0')
	redis.call('SET', KEYS[7], process)
	return {schema, space, check, secret, log}, 1
end
`

// headScript agrees on the head.
// KEYS head mark log x members keeper process purges. ARGV: 1 prefix, 2 schema, 3 space, 4 check of the secret, 5 secret or "", 6 a new number of a
// log, 7 a process number to begin with.
// Returns schema, space, check, secret, whether the head is new, foreign.
var headScript = redis.NewScript(beginHead + `
local h, new = begin(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
return {h[1] or '', h[2] or '', h[3] or '', h[4] or '', new, foreign}
`)

// processScript gives a number that no member has, the present one where that is free.
// KEYS members process head. ARGV: 1 present number, 2 token of the process, 3 its name, 4 number to begin with.
var processScript = redis.NewScript(safely + `
local t = redis.call('TIME')
local function free(p)
	local m = try('HGET', KEYS[1], p)
	return not m or string.sub(m, 1, #ARGV[2]) == ARGV[2]
end
local p = ARGV[1]
if p == '0' or not free(p) then
	local n = tonumber(try('GET', KEYS[2]) or ARGV[4]) or 0
	for i = 1, 65535 do
		n = n % 65535 + 1
		p = tostring(n)
		if free(p) then break end
	end
	redis.call('SET', KEYS[2], p)
	redis.call('HDEL', KEYS[3], 's' .. p)
end
redis.call('HSET', KEYS[1], p, ARGV[2] .. ' 0 ' .. t[1] .. string.format('%06d', t[2]) .. ' ' .. ARGV[3])
return p
`)

// shorten is a part of scripts. Payloads are numbered by their bytes: bytes is that of the last one, base about that of the first one that the log
// still has. It drops a sixteenth of the log as long as more than so many bytes are in it, and leaves so many batches.
const shorten = `
local function shorten(bytes, base, most, least)
	local length = 0
	while bytes - base > most do
		if length > 0 then redis.call('XTRIM', LOG, 'MAXLEN', math.max(length - math.ceil(length / 16), least)) end
		length = redis.call('XLEN', LOG)
		local first = redis.call('XRANGE', LOG, '-', '+', 'COUNT', 1)[1]
		base = bytes
		for j = 1, first and #first[2] or 0, 2 do
			if first[2][j] == 'b' then base = tonumber(first[2][j + 1]) or bytes end
		end
		redis.call('HSET', KEYS[1], 'base', base)
		if length <= least then break end
	end
end
`

// fetchScript reads the mark and an answer and, where there is none, takes the lease of its flight. KEYS mark answer lease. ARGV: 1 holder, 2 time
// in ms. Returns {mark, answer, 1 if the lease was taken, else 0 or the server's refusal}.
var fetchScript = redis.NewScript(`
local v, lease = redis.call('MGET', KEYS[1], KEYS[2]), 0
if not v[2] then
	local r = redis.pcall('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[2])
	if type(r) == 'table' then lease = r.err or 1 end
end
return {v[1], v[2], lease}
`)

// appendScript appends a batch and changes answers and records as its events say.
// KEYS head log x. ARGV: 1 prefix, 2 log, 3 purges, 4 process, 5 serial, 6 length of the log, 7 payload, 8 most aliases, 9 most bytes of the log, then operations:
// i id key answer ttl from to | a id key basis | v id none from to | d id key. from and to are where the record is in the payload. A list of
// aliases is as package store has it: a byte, and for each alias its key and its basis of 8 bytes.
// Returns {1, n, id, foreign}; {2, n, id} where the log has the serial already; {0, log, purges} where the mark is another one;
// {3} where the server is full and there are insertions.
var appendScript = redis.NewScript(safely + room + `local LOG = KEYS[2]` + shorten + `
local P = ARGV[1]
local h = try('HMGET', KEYS[1], 'log', 'purges', 'n', 'last', 's' .. ARGV[4], 'bytes', 'base')
if h[5] then
	local serial, n, id = string.match(h[5], '^(%d+):(%d+):(.+)$')
	if serial and tonumber(ARGV[5]) <= tonumber(serial) then return {2, n, id, h[1] or ''} end
end
if h[1] ~= ARGV[2] or h[2] ~= ARGV[3] then return {0, h[1] or '', h[2] or ''} end

local function answer(key) return P .. 'a:' .. string.sub(key, 1, 16) end
local function bucket(shelf, id)
	return P .. shelf .. ((string.byte(id, 7) % 4) * 256 + string.byte(id, 8))
end
local function aliasesOf(id) return bucket('r:', id), '\6' .. id end
local function unalias(key)
	local id = try('HGET', KEYS[3], key)
	if not id then return end
	redis.call('HDEL', KEYS[3], key)
	local b, f = aliasesOf(id)
	local all = try('HGET', b, f) or ''
	for at = 2, #all, 40 do
		if string.sub(all, at, at + 31) == key then
			all = string.sub(all, 1, at - 1) .. string.sub(all, at + 40)
			break
		end
	end
	if #all < 2 then redis.call('HDEL', b, f) else redis.call('HSET', b, f, all) end
end
local function forget(id)
	local b, f = aliasesOf(id)
	local all = try('HGET', b, f) or ''
	for at = 2, #all, 40 do try('HDEL', KEYS[3], string.sub(all, at, at + 31)) end
	try('HDEL', b, '\4' .. id, '\5' .. id, f)
	try('HDEL', bucket('s:', id), '\7' .. id)
end
local function owner(key) -- the id of the entry whose answer is stored, '' for none
	local v = redis.pcall('GETRANGE', answer(key), 0, 10)
	if type(v) == 'table' or string.sub(v, 1, 3) ~= 'RP\1' then return '' end
	return string.sub(v, 4)
end

local function remove(id, key)
	forget(id)
	if owner(key) == id then redis.call('UNLINK', answer(key)) end
end

local i, last = 10, #ARGV
local full = room(KEYS[1], KEYS[2]) == 1
if full then -- a full server takes no answers, and all that makes room
	local at = i
	while at <= last do
		if ARGV[at] == 'i' then return {3, 0, 0} end
		at = at + (ARGV[at] == 'a' and 4 or ARGV[at] == 'v' and 5 or 3)
	end
end
while i <= last do
	local op, id, key = ARGV[i], ARGV[i + 1], ARGV[i + 2]
	i = i + 3
	if op == 'i' then
		local old = owner(key)
		if #old == 8 and old ~= id then forget(old) end
		unalias(key)
		if ARGV[i + 1] == '0' then
			redis.call('SET', answer(key), ARGV[i])
		else
			redis.call('SET', answer(key), ARGV[i], 'PXAT', ARGV[i + 1])
		end
		try('HDEL', bucket('r:', id), '\5' .. id)
		try('HSET', bucket('r:', id), '\4' .. id, '\1' .. string.sub(ARGV[7], ARGV[i + 2] + 1, ARGV[i + 3]))
		i = i + 4
	elseif op == 'a' then
		if owner(key) == '' then unalias(key) end
		local b, f = aliasesOf(id)
		if owner(key) == '' and try('HEXISTS', b, '\4' .. id) == 1 then
			local all = try('HGET', b, f) or '\1'
			if #all > 40 * tonumber(ARGV[8]) then
				local out = 2 -- the oldest one that is not store.Refused
				for at = 2, #all, 40 do
					if string.sub(all, at + 32, at + 39) ~= string.rep('\255', 8) then
						out = at
						break
					end
				end
				try('HDEL', KEYS[3], string.sub(all, out, out + 31))
				all = string.sub(all, 1, out - 1) .. string.sub(all, out + 40)
			end
			redis.call('HSET', b, f, all .. key .. ARGV[i])
			try('HSET', KEYS[3], key, id)
		end
		i = i + 1
	elseif op == 'v' then
		local b = bucket('r:', id)
		if not full and try('HEXISTS', b, '\4' .. id) == 1 then
			try('HSET', b, '\5' .. id, '\2' .. string.sub(ARGV[7], ARGV[i] + 1, ARGV[i + 1]))
		end
		i = i + 2
	else
		remove(id, key)
	end
end
local n, bytes = tonumber(h[3]) + 1, (tonumber(h[6]) or 0) + #ARGV[7]
local id = try('XADD', KEYS[2], 'MAXLEN', '~', ARGV[6], '*', 'n', n, 'p', h[4], 'm', h[1] .. ':' .. h[2], 'o', ARGV[4], 's', ARGV[5], 'b', bytes, 'd', ARGV[7])
redis.call('HSET', KEYS[1], 'n', n, 'last', id, 'bytes', bytes, 's' .. ARGV[4], ARGV[5] .. ':' .. n .. ':' .. id)
shorten(bytes, tonumber(h[7]) or 0, tonumber(ARGV[9]), 1)
return {1, tostring(n), id, foreign}
`)

// purgeScript makes a purge a batch of the log and raises the mark.
// KEYS head mark log purges. ARGV: 1 process, 2 serial, 3 length of the log, 4 filter.
// Returns {log, purges}, an empty list where there is no head.
var purgeScript = redis.NewScript(safely + room + `
local h = try('HMGET', KEYS[1], 'log', 'purges', 'n', 'last', 's' .. ARGV[1], 'bytes')
if not h[1] then return {} end
if h[5] then
	local serial = string.match(h[5], '^(%d+):')
	if serial and tonumber(ARGV[2]) <= tonumber(serial) then return {h[1], h[2]} end
end
room(KEYS[1], KEYS[3])
local n, purges = tonumber(h[3]) + 1, tonumber(h[2]) + 1
local mark = h[1] .. ':' .. purges
local id = try('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], '*', 'n', n, 'p', h[4], 'm', mark, 'o', ARGV[1], 's', ARGV[2], 'b', h[6] or 0, 'f', ARGV[4])
redis.call('SET', KEYS[2], mark)
try('HSET', KEYS[4], purges, ARGV[4])
redis.call('HSET', KEYS[1], 'purges', purges, 'n', n, 'last', id, 's' .. ARGV[1], ARGV[2] .. ':' .. n .. ':' .. id)
return {h[1], tostring(purges)}
`)

// finishScript takes purges out of the unfinished ones. KEYS head purges. ARGV: 1 log, then purges.
var finishScript = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'log') ~= ARGV[1] then return 0 end
for i = 2, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
return 0
`)

// trimScript drops the log before a message. KEYS head log. ARGV: 1 log, 2 id.
var trimScript = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'log') ~= ARGV[1] then return 0 end
return redis.call('XTRIM', KEYS[2], 'MINID', ARGV[2])
`)

// beatScript keeps a process among the members, takes, renews or leaves the lease of the keeper, and returns the state of the store. The keeper
// drops of the log what all members have applied, except the last batches.
// KEYS head mark log x members keeper process purges. ARGV: 1 to 7 as of headScript, 8 process, 9 its token, 10 the batch it has applied, 11 its name, 12 1 to be
// keeper, else 0, 13 the time of the lease in ms, 14 after how many ms without a beat a member is dropped, 15 batches
// to keep, 16 bytes to keep.
// Returns {log, purges, n, last, seconds, microseconds, keeper, ms of its lease, check, members, foreign, unfinished, full}, or {} where another process has the number.
var beatScript = redis.NewScript(beginHead + room + `local LOG = KEYS[3]` + shorten + `
begin(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
local p, token = ARGV[8], ARGV[9]
local m = try('HGET', KEYS[5], p)
if m and string.sub(m, 1, #token) ~= token then return {} end
local full = room(KEYS[1], KEYS[3])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('HSET', KEYS[5], p, token .. ' ' .. ARGV[10] .. ' ' .. t[1] .. string.format('%06d', t[2]) .. ' ' .. ARGV[11])
local h = redis.call('HMGET', KEYS[1], 'log', 'purges', 'n', 'last', 'check', 'bytes', 'base')
local mark = h[1] .. ':' .. h[2]
if try('GET', KEYS[2]) ~= mark then redis.call('SET', KEYS[2], mark) end
local keeper = try('GET', KEYS[6])
if keeper and (not string.match(keeper, '^%d+$') or redis.call('PTTL', KEYS[6]) < 0) then -- a lease always ends
	foreign, keeper = foreign + 1, false
	redis.call('UNLINK', KEYS[6])
end
if keeper == p then
	if ARGV[12] == '1' then redis.call('PEXPIRE', KEYS[6], ARGV[13]) else redis.call('UNLINK', KEYS[6]) keeper = false end
elseif not keeper and ARGV[12] == '1' then
	redis.call('SET', KEYS[6], p, 'PX', ARGV[13])
	keeper = p
end
local members = redis.call('HGETALL', KEYS[5])
local live, least = {}, tonumber(h[3])
for i = 1, #members, 2 do
	local applied, beat = string.match(members[i + 1], '^%x+ (%d+) (%d+) ')
	if not applied or now - tonumber(beat) / 1000 > tonumber(ARGV[14]) then
		redis.call('HDEL', KEYS[5], members[i])
	else
		live[#live + 1] = members[i]
		live[#live + 1] = members[i + 1]
		least = math.min(least, tonumber(applied))
	end
end
if keeper == p then
	local needed = tonumber(h[3]) - least
	try('XTRIM', KEYS[3], 'MAXLEN', '~', needed + tonumber(ARGV[15]))
	shorten(tonumber(h[6]) or 0, tonumber(h[7]) or 0, tonumber(ARGV[16]), needed + 1)
end
return {h[1], h[2], h[3], h[4], t[1], t[2], keeper or '0', redis.call('PTTL', KEYS[6]), h[5] or '', live, foreign, try('HGETALL', KEYS[8]), full}
`)

// leaveScript takes a process out of the members. KEYS members keeper. ARGV: 1 process, 2 token.
var leaveScript = redis.NewScript(`
local m = redis.call('HGET', KEYS[1], ARGV[1])
if m and string.sub(m, 1, #ARGV[2]) == ARGV[2] then
	redis.call('HDEL', KEYS[1], ARGV[1])
	if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('UNLINK', KEYS[2]) end
end
return 0
`)

// renewScript prolongs the leases that are still ours, releaseScript ends them. KEYS leases. ARGV: 1 holder, 2 time in ms. Both return how many.
var (
	renewScript = redis.NewScript(`
local n = 0
for _, k in ipairs(KEYS) do
	if redis.pcall('GET', k) == ARGV[1] then n = n + redis.call('PEXPIRE', k, ARGV[2]) end
end
return n
`)
	releaseScript = redis.NewScript(`
local n = 0
for _, k in ipairs(KEYS) do
	if redis.pcall('GET', k) == ARGV[1] then n = n + redis.call('UNLINK', k) end
end
return n
`)
)

// writeScript writes records. KEYS hashes. ARGV: for each record the place of its hash in KEYS, its field, an operation, and its body: p puts, d
// deletes, s puts a state where its entry is. Returns foreign.
var writeScript = redis.NewScript(safely + `
for i = 1, #ARGV, 4 do
	local k, f, op = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2]
	if op == 'd' then
		try('HDEL', k, f)
	elseif op == 'p' or try('HEXISTS', (string.gsub(k, 's:(%d+)$', 'r:%1')), '\4' .. string.sub(f, 2)) == 1 then
		try('HSET', k, f, ARGV[i + 3])
	end
end
return foreign
`)
