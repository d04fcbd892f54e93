-- RAC by sorted sets. Its victim is the entry of least TP * TSI; by Lemma 1 (all topics decay at one rate) that is the entry of least
-- K(topic) + log2 TSI, where K = alpha * t + log2 TP at the topic's last request t, and K stands still between requests. So one sorted set has the
-- topics by K + log2 of their least TSI, and one for each topic has its entries by TSI. Members begin with the last access and the id (8 bytes each,
-- big endian), so that ties go to what was used least recently, then to the oldest.
--
-- KEYS[1]: prefix of all keys, with the hash tag
-- ARGV: alpha, number of the request, how many topics without entries are kept, then
--   hit, id, parent or ""                     a request that id answers
--   miss, topic, id, parent or "", capacity   a request whose answer is inserted; returns the victims, concatenated
-- A topic whose name begins with a byte 255 belongs to one entry alone and is not kept without it.
--
-- PREFIX..e  hash, id -> requests (4), dependents (4), last access (8), topic (8), parent (8)
-- PREFIX..t  hash, topic -> K (8), last access and id of its first entry (16; none: it has no entries)
-- PREFIX..k  sorted set of the topics with entries; PREFIX..g of those without
-- PREFIX..m:TOPIC  sorted set of entries
-- PREFIX..n  id of the newest entry, which is not evicted before the next one comes

local call = redis.call
local p = KEYS[1]
local entries, topics, live, ghosts, newest, members = p .. 'e', p .. 't', p .. 'k', p .. 'g', p .. 'n', p .. 'm:'
local at, ghostRoom = tonumber(ARGV[1]) * tonumber(ARGV[2]), tonumber(ARGV[3])
local seq = struct.pack('>I8', tonumber(ARGV[2]))
local none = string.rep('\0', 8)
local ln2, most, grid = math.log(2), 64, 2 ^ 30

local function read(id)
  local s = call('HGET', entries, id)
  if not s then return nil end
  local freq, dep = struct.unpack('>I4I4', s)
  return {id = id, freq = freq, dep = dep, last = s:sub(9, 16), topic = s:sub(17, 24), parent = s:sub(25, 32)}
end

local function write(e)
  call('HSET', entries, e.id, struct.pack('>I4I4', e.freq, e.dep) .. e.last .. e.topic .. e.parent)
end

local function place(e, held)
  local tsi = held and 'inf' or e.freq + e.dep
  call('ZADD', members .. e.topic, tsi, e.last .. e.id)
end

local function readTopic(topic)
  local s = call('HGET', topics, topic)
  if not s then return nil end
  return {name = topic, K = (struct.unpack('>d', s)), first = s:sub(9)}
end

-- credit counts one request to a topic.
local function credit(t)
  local x = t.K - at
  t.K = x > 60 and t.K or at + math.log(1 + 2 ^ x) / ln2
end

-- seat puts a topic where it now belongs. What is equal on paper is equal on the grid, whatever the rounding on the way.
local function seat(t)
  local first = call('ZRANGE', members .. t.name, 0, 0, 'WITHSCORES')
  local was = t.first
  if was ~= '' and was ~= first[1] then call('ZREM', live, was .. t.name) end
  t.first = first[1] or ''
  if first[1] then
    local tsi = tonumber(first[2])
    local score = tsi == math.huge and 'inf' or math.floor((t.K + math.log(tsi) / ln2) * grid + 0.5) / grid
    call('ZADD', live, score, t.first .. t.name)
    if was == '' then call('ZREM', ghosts, t.name) end
  elseif t.name:byte(1) == 255 then
    call('HDEL', topics, t.name)
    return
  else
    call('ZADD', ghosts, t.K, t.name)
    if call('ZCARD', ghosts) > ghostRoom then
      local least = call('ZPOPMIN', ghosts)[1]
      call('HDEL', topics, least)
      if least == t.name then return end
    end
  end
  call('HSET', topics, t.name, struct.pack('>d', t.K) .. t.first)
end

-- depend counts requests to an entry that depends on id.
local function depend(id, n)
  local e = id ~= none and read(id)
  if not e or e.dep >= most then return end
  e.dep = math.min(e.dep + n, most)
  write(e)
  if call('GET', newest) ~= e.id then
    place(e)
    seat(readTopic(e.topic))
  end
end

local function hit(id, parent)
  local e = read(id)
  if not e then return '' end
  if parent ~= '' and parent < id and call('HEXISTS', entries, parent) == 1 and (e.parent == none or call('HEXISTS', entries, e.parent) == 0) then
    e.parent = parent
    depend(parent, e.freq)
  end
  call('ZREM', members .. e.topic, e.last .. e.id)
  e.freq, e.last = e.freq + 1, seq
  write(e)
  place(e, call('GET', newest) == id)
  local t = readTopic(e.topic)
  credit(t)
  seat(t)
  depend(e.parent, 1)
  return ''
end

local function evict()
  local victim = call('ZRANGE', live, 0, 0)[1]
  local first, id, topic = victim:sub(1, 16), victim:sub(9, 16), victim:sub(17)
  call('ZREM', members .. topic, first)
  call('HDEL', entries, id)
  seat(readTopic(topic))
  return id
end

local function miss(topic, id, parent, capacity)
  local t = readTopic(topic)
  if t then
    credit(t)
  else
    t = {name = topic, K = at, first = ''}
  end
  local before = call('GET', newest)
  call('SET', newest, id)
  local e = {id = id, freq = 1, dep = 0, last = seq, topic = topic, parent = parent}
  if parent == '' then e.parent = none end
  write(e)
  place(e, true)
  seat(t)
  local held = before and read(before)
  if held then
    place(held)
    seat(readTopic(held.topic))
  end
  depend(e.parent, 1)
  local victims = {}
  while call('HLEN', entries) > capacity do victims[#victims + 1] = evict() end
  return table.concat(victims)
end

if ARGV[4] == 'hit' then return hit(ARGV[5], ARGV[6]) end
return miss(ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8]))
