import { script } from "./commands.ts";
import { MET } from "./conditions.ts";

/**
 * Numbers travel as texts written by JavaScript, because Lua's own formatting would truncate long ones. Optional texts
 * travel as JSON, so that nil, the empty text and the word null stay distinct.
 */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function digits(number) return string.format('%.17g', number) end
local function row(key)
  return redis.call('HMGET', key, 'identity', 'projection', 'epoch', 'owner', 'token', 'until', 'seq', 'head')
end
local function guard(key, incarnation)
  if redis.call('GET', key) ~= incarnation then
    return redis.error_reply('LOST what this store held is gone or was replaced')
  end
end
-- KEYS[first] and the two after it are the runs of one lane that are free, claimed, and all of them.
local function plan(first, id, wake, claimed)
  if wake == '' then
    for i = 0, 2 do redis.call('ZREM', KEYS[first + i], id) end
  else
    redis.call('ZADD', KEYS[first + 2], wake, id)
    if tonumber(claimed) == 0 then
      redis.call('ZADD', KEYS[first], wake, id)
      redis.call('ZREM', KEYS[first + 1], id)
    else
      redis.call('ZADD', KEYS[first + 1], claimed, id)
      redis.call('ZREM', KEYS[first], id)
    end
  end
end
`;

/**
 * One append, checked and applied atomically. The caller names every key, including the lists that it believes the run
 * to be in. If the run is in others, the script changes nothing and returns them, and the caller asks again.
 *
 * KEYS: mark, row, log, data, blobs; due, held, wake; lists to leave (2); lists to enter (2); lists to enter when new (3);
 * the priorities of its workflow; further lists to enter when new; lists of other runs that its conditions count.
 */
export const APPEND = script(`#!lua
${COMMON}
${MET}
local lost = guard(KEYS[1], ARGV[1])
if lost then return lost end
local id, expectSeq, expectEpoch, expectToken = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local kind, owner, token, ttl = ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9])
local fromWorkflow, fromPlace, workflow, place = ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local identity, projection, created, wake = ARGV[14], ARGV[15], ARGV[16], ARGV[17]
local seq, head, expireAfter, parent = ARGV[18], ARGV[19], ARGV[20], ARGV[21]
local priority, lane, leastEpoch, own = ARGV[22], ARGV[23], tonumber(ARGV[24]), tonumber(ARGV[25])

local old = redis.call('HMGET', KEYS[2], 'epoch', 'token', 'until', 'seq', 'workflow', 'place', 'owner', 'created', 'expires', 'lane')
local exists = old[1]
local function refuse(reason)
  if not exists then return {reason} end
  return {reason, row(KEYS[2])}
end
if expectSeq == '' then
  if exists then return refuse('exists') end
  old = {'0', 'null', '0', '0', workflow, place, 'null', created, false, lane}
else
  if not exists then return refuse('missing') end
  local theirs = old[2] ~= expectToken or tonumber(old[1]) ~= tonumber(expectEpoch)
  if expectToken ~= 'null' and theirs then return refuse('fenced') end
  if kind == 'acquire' and tonumber(old[3]) > now then return refuse('held') end
  if tonumber(old[4]) ~= tonumber(expectSeq) then return refuse('conflict') end
  local inLane = old[10] or old[5]
  if old[5] ~= fromWorkflow or old[6] ~= fromPlace or inLane ~= lane then return {'elsewhere', old[5], old[6], inLane} end
end

local broken, other = met(id, ARGV[26], own + 1)
if broken == 'taken' then return {'taken', other} end
if broken then return refuse(broken) end

if kind == 'erase' then
  for i = 2, 5 do redis.call('DEL', KEYS[i]) end
  for i = 6, own do
    if i ~= 16 then redis.call('ZREM', KEYS[i], id) end
  end
  return {'ok'}
end

local epoch, heldBy, heldWith, claimed = old[1], old[7], old[2], old[3]
if kind == 'hold' and heldWith ~= 'null' then claimed = digits(now + ttl) end
if kind == 'release' then epoch = digits(math.max(tonumber(epoch), leastEpoch)) end
if kind == 'revoke' or kind == 'acquire' then epoch = digits(tonumber(epoch) + 1) end
if kind == 'release' or kind == 'revoke' then heldBy, heldWith, claimed = 'null', 'null', '0' end
if kind == 'acquire' then heldBy, heldWith, claimed = owner, token, digits(now + ttl) end

local at = 27
local function each(width, work)
  local many = tonumber(ARGV[at])
  at = at + 1
  for i = 1, many do
    work(at)
    at = at + width
  end
end
each(1, function(i) redis.call('HDEL', KEYS[4], ARGV[i]) end)
each(1, function(i) redis.call('HDEL', KEYS[5], ARGV[i]) end)
each(4, function(i)
  redis.call('ZADD', KEYS[3], ARGV[i], ARGV[i + 1])
  if ARGV[i + 2] == '1' then redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 3]) end
end)
each(2, function(i) redis.call('HSETNX', KEYS[5], ARGV[i], ARGV[i + 1]) end)

if not exists then
  redis.call('HSET', KEYS[2], 'identity', identity, 'workflow', workflow, 'created', created, 'lane', lane)
  if priority ~= '0' then redis.call('ZADD', KEYS[16], priority, priority) end
  for i = 17, own do redis.call('ZADD', KEYS[i], created, id) end
  redis.call('ZADD', KEYS[13], created, id)
  redis.call('ZADD', KEYS[14], created, id)
  if parent == '1' then redis.call('ZADD', KEYS[15], created, id) end
end
if not exists or old[6] ~= place then
  for i = 9, 10 do redis.call('ZREM', KEYS[i], id) end
  for i = 11, 12 do redis.call('ZADD', KEYS[i], old[8], id) end
end
plan(6, id, wake, claimed)

local expires = ''
if expireAfter ~= '' then expires = digits(now + tonumber(expireAfter)) end
redis.call('HSET', KEYS[2], 'projection', projection, 'epoch', epoch, 'owner', heldBy, 'token', heldWith,
  'until', claimed, 'seq', seq, 'head', head, 'place', place, 'wake', wake, 'expires', expires)
for i = 2, 5 do
  if expires ~= '' then redis.call('PEXPIREAT', KEYS[i], expires)
  elseif old[9] and old[9] ~= '' then redis.call('PERSIST', KEYS[i]) end
end
return {'ok'}
`);

/** KEYS: mark, row; due, held, wake. */
export const RENEW = script(`#!lua
${COMMON}
local lost = guard(KEYS[1], ARGV[1])
if lost then return lost end
local id, epoch, token, ttl, lane = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local old = redis.call('HMGET', KEYS[2], 'epoch', 'token', 'workflow', 'wake', 'place', 'lane')
if not old[1] or old[2] ~= token or tonumber(old[1]) ~= tonumber(epoch) then return {'gone'} end
local inLane = old[6] or old[3]
if inLane ~= lane then return {'elsewhere', old[3], old[5], inLane} end
local claimed = digits(now + ttl)
redis.call('HSET', KEYS[2], 'until', claimed)
plan(3, id, old[4], claimed)
return {'ok', row(KEYS[2])}
`);

/**
 * Free runs whose wake time has come: the server's time, then id and wake time in turn. Expired claims are released
 * first. Runs of the parts of queues that are left out are passed over, except those that are running.
 *
 * KEYS: due, held, wake of each lane. ARGV: the limit; the parts.
 */
export const DUE = script(`#!lua
${COMMON}
local found = {digits(now)}
local limit, parts = tonumber(ARGV[1]), cjson.decode(ARGV[2])
local function isPart(run, part)
  if run.queue ~= part.queue then return false end
  if part.key and (type(run.key) == 'string' and run.key or '') ~= part.key then return false end
  return not part.label or (run.labels[part.label[1]] or '') == part.label[2]
end
local function isLeftOut(list, id)
  if #parts == 0 then return false end
  local identity, place = unpack(redis.call('HMGET', string.match(list, '^%b{}') .. 'run:' .. id, 'identity', 'place'))
  if not identity or string.match(place, '^running') then return false end
  local readable, run = pcall(cjson.decode, identity)
  if not readable then return false end
  for _, part in ipairs(parts) do
    if isPart(run, part) then return true end
  end
  return false
end
for i = 1, #KEYS, 3 do
  repeat
    local expired = redis.call('ZRANGEBYSCORE', KEYS[i + 1], '-inf', digits(now), 'LIMIT', 0, 500)
    for _, id in ipairs(expired) do
      local wake = redis.call('ZSCORE', KEYS[i + 2], id)
      if wake then redis.call('ZADD', KEYS[i], wake, id) end
      redis.call('ZREM', KEYS[i + 1], id)
    end
  until #expired == 0
  local left, offset, many = limit, 0, limit
  repeat
    local due = redis.call('ZRANGEBYSCORE', KEYS[i], '-inf', digits(now), 'WITHSCORES', 'LIMIT', offset, many)
    for n = 1, #due, 2 do
      if left > 0 and not isLeftOut(KEYS[i], due[n]) then
        found[#found + 1] = due[n]
        found[#found + 1] = due[n + 1]
        left = left - 1
      end
    end
    local isLast = #due < 2 * many
    offset = offset + many
    many = math.min(2 * many, 10000)
  until left == 0 or isLast
end
return found
`);

/** The priorities besides 0 that runs of these workflows have had. KEYS: the lists of priorities. */
export const LEVELS = script(`#!lua flags=no-writes
local found = {}
for _, key in ipairs(KEYS) do
  for _, level in ipairs(redis.call('ZRANGE', key, 0, -1)) do found[#found + 1] = level end
end
return found
`);

/**
 * Ids and ages in turn, newest first within each list, of the runs that are in a list of each group. The smallest group
 * is walked. Ids are compared by their bytes: Lua's own comparison depends on the server's locale, the order of lists
 * doesn't.
 *
 * KEYS: the lists, group by group. ARGV: the limit; age and id of the run after which the page begins, or two empty texts;
 * the least and the highest age; the size of each group.
 */
export const LIST = script(`#!lua flags=no-writes
local limit, age, id = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local groups, walked, least, key = {}, 0, math.huge, 0
for i = 6, #ARGV do
  local group, runs = {}, 0
  for n = 1, tonumber(ARGV[i]) do
    key = key + 1
    group[n] = KEYS[key]
    runs = runs + redis.call('ZCARD', KEYS[key])
  end
  groups[#groups + 1] = group
  if runs < least then walked, least = #groups, runs end
end
local function isInOneOf(group, run)
  for _, list in ipairs(group) do
    if redis.call('ZSCORE', list, run) then return true end
  end
  return false
end
local function isWanted(run)
  for i, group in ipairs(groups) do
    if i ~= walked and not isInOneOf(group, run) then return false end
  end
  return true
end
local function before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end
local found = {}
for _, list in ipairs(groups[walked]) do
  local left, start = limit, ARGV[5]
  local function take(run, at)
    if left == 0 or not isWanted(run) then return end
    found[#found + 1] = run
    found[#found + 1] = at
    left = left - 1
  end
  if age ~= '' then
    start = '(' .. age
    for _, tie in ipairs(redis.call('ZREVRANGEBYSCORE', list, age, age)) do
      if before(tie, id) then take(tie, age) end
    end
  end
  local offset, many = 0, limit
  while left > 0 do
    local page = redis.call('ZREVRANGEBYSCORE', list, start, ARGV[4], 'WITHSCORES', 'LIMIT', offset, many)
    for i = 1, #page, 2 do take(page[i], page[i + 1]) end
    if #page < 2 * many then break end
    offset = offset + many
    many = math.min(2 * many, 10000)
  end
end
return found
`);

/** Entries and their data in turn. KEYS: log, data. ARGV: from, limit. */
export const ENTRIES = script(`#!lua flags=no-writes
local from = ARGV[1]
local containing = redis.call('ZREVRANGEBYSCORE', KEYS[1], from, '-inf', 'LIMIT', 0, 1)[1]
if containing then
  local seq, count = string.match(containing, '^(%d+):(%d+):')
  if tonumber(seq) + tonumber(count) > tonumber(from) then from = seq end
end
local found = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'LIMIT', 0, ARGV[2])
local answer = {}
for first = 1, #found, 1000 do
  local seqs = {}
  for i = first, math.min(first + 999, #found) do seqs[#seqs + 1] = string.match(found[i], '^%d+') end
  local data = redis.call('HMGET', KEYS[2], unpack(seqs))
  for i = 1, #seqs do
    answer[#answer + 1] = found[first + i - 1]
    answer[#answer + 1] = data[i]
  end
end
return answer
`);

/**
 * Counts the lists that a run is missing from, according to its row. 0 if it has moved since the lists were named.
 *
 * KEYS: row; due, held, wake; the lists by age. ARGV: id, workflow, place.
 */
const STANDS = `
${COMMON}
local id = ARGV[1]
local old = redis.call('HMGET', KEYS[1], 'workflow', 'place', 'created', 'wake', 'until')
if old[1] ~= ARGV[2] or old[2] ~= ARGV[3] or not old[3] then return 0 end
local missing = 0
for i = 5, #KEYS do
  if not redis.call('ZSCORE', KEYS[i], id) then missing = missing + 1 end
end
local wake, claimed = old[4] or '', old[5] or '0'
if wake ~= '' then
  if not redis.call('ZSCORE', KEYS[4], id) then missing = missing + 1 end
  if not redis.call('ZSCORE', KEYS[2], id) and not redis.call('ZSCORE', KEYS[3], id) then missing = missing + 1 end
end
`;

export const MISSING = script(`#!lua flags=no-writes
${STANDS}
return missing
`);

/** Counts like `STANDS` and also restores the run. */
export const MEND = script(`#!lua
${STANDS}
if missing > 0 then
  for i = 5, #KEYS do redis.call('ZADD', KEYS[i], old[3], id) end
  plan(2, id, wake, claimed)
end
return missing
`);

/** Counts the runs in the first list, and in the others together. */
export const COUNT = script(`#!lua flags=no-writes
local sum = 0
for i = 2, #KEYS do sum = sum + redis.call('ZCARD', KEYS[i]) end
return {redis.call('ZCARD', KEYS[1]), sum}
`);

/** Removes an expired run from lists. KEYS: its row, then the lists. ARGV: its id. */
export const FORGET = script(`#!lua
if redis.call('EXISTS', KEYS[1]) == 0 then
  for i = 2, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
end
return 1
`);

/** Creates the store if it doesn't exist. KEYS: meta. ARGV: fields and values. Returns the content after that. */
export const PREPARE = script(`#!lua
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
local schema = redis.call('HGET', KEYS[1], 'schema')
if schema and tonumber(schema) < tonumber(ARGV[4]) then redis.call('HSET', KEYS[1], 'schema', ARGV[4]) end
return redis.call('HMGET', KEYS[1], 'application', 'schema', 'incarnation', 'secret', 'buckets', 'restored', 'former')
`);

/** Sets the store's mark if it is missing or from before a restore. KEYS: mark. ARGV: incarnation, the former one. */
export const ADOPT = script(`#!lua
local found = redis.call('GET', KEYS[1])
if found and found ~= ARGV[2] then return found end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
`);

/** Sets a new incarnation. KEYS: meta. ARGV: incarnation, the one until now, the time. */
export const RESTORED = script(`#!lua
if redis.call('HGET', KEYS[1], 'incarnation') ~= ARGV[2] then
  return redis.error_reply('LOST what this store held is gone or was replaced')
end
redis.call('HSET', KEYS[1], 'incarnation', ARGV[1], 'former', ARGV[2], 'restored', ARGV[3])
return 1
`);

/** The INFO of the server that holds this key. It is a script so that a cluster client asks that server only. */
export const INFO = script(`#!lua flags=no-writes
return redis.call('INFO', 'server', 'memory', 'persistence', 'replication')
`);
