-- The line of an organization as this run sees it. Sorted sets are written as they change; records of waiters, queues and
-- places are read once, changed in memory and written at the end. Nothing is stored while no request waits.
--
-- <org>:line      n (waiters), v0 v1 v2 (virtual time of each class), tickets (how many joined), touched (places), places (how many); absent when
--                 no request waits
-- <org>:waiters   operation → its record          <org>:due, <org>:late   waiters by slot; without a promise by deadline
-- <org>:queues    queue → what its waiters have in common; queue:t → tag, where it is parked
-- <org>:queue:<queue>, <org>:size:<queue>         waiters by arrival; by size where the sizes differ
-- <org>:places    place → its record              <org>:wake              places by the moment of their next look
-- <org>:place:<place>:<class>, <org>:least:<place> queues by tag and arrival of their head; by their least cost
-- <org>:plan:<window>                             waiters by slot
-- <org>:served    class:caller → finish tag       <org>:counts            waiters by queue of the ask and by held limit
-- <org>:limits    policy → version, limit, window, value <org>:values           window → its limit, where a policy has another
local lines = {}
-- As text in the same order.
local SEQUENCE_TEXT, SEQUENCE_BYTES = '%015.0f', 15
local QUEUE_BYTES = 40

local function number_text(value)
  return format('%.17g', value)
end

-- The order of the store's sorted sets; `<` follows the locale.
local function bytes_before(a, b)
  if a == b then return false end
  for index = 1, min(#a, #b) do
    local left, right = string.byte(a, index), string.byte(b, index)
    if left ~= right then return left < right end
  end
  return #a < #b
end

local function line_of(org)
  local line = lines[org]
  if line then return line end
  local base = PREFIX .. org .. ':'
  local found = call('HMGET', base .. 'line', 'n', 'v0', 'v1', 'v2', 'tickets', 'touched', 'places')
  line = {
    org = org,
    base = base,
    size = tonumber(found[1] or 0),
    stored = found[1] and true or false,
    tickets = tonumber(found[5] or 0),
    n_places = tonumber(found[7] or 0),
    virtual = { [0] = tonumber(found[2] or 0), tonumber(found[3] or 0), tonumber(found[4] or 0) },
    waiters = {},
    queues = {},
    places = {},
    windows = {},
    limits = {},
    served = {},
    touched = {},
    gone = {},
    dropped = {},
  }
  for key in string.gmatch(found[6] or '', '[^\n]+') do line.touched[key] = true end
  lines[org] = line
  return line
end

-- No request waits any more: nothing of the line stays.
local function end_line(line)
  local keys = {}
  for index, part in ipairs(LINE_PARTS) do keys[index] = line.base .. part end
  call('DEL', unpack(keys))
  line.stored, line.tickets, line.n_places, line.virtual = false, 0, 0, { [0] = 0, 0, 0 }
  line.waiters, line.queues, line.places, line.limits, line.served = {}, {}, {}, {}, {}
  line.touched, line.gone, line.dropped = {}, {}, {}
end

-- Limits ---------------------------------------------------------------------------------------------------------------

-- The newest limit of a policy that those who wait have seen, or false: { version, limit, key and value of the window that it was seen
-- with }. A policy whose period changed has another window, whose limit is one of `values`.
local function read_limit(line, id, text)
  local known = false
  if text then
    local fields = unpack_value(text)
    known = { version = fields[1], limit = fields[2], key = fields[3], value = fields[4] }
  end
  line.limits[id] = known
  return known
end

local function known_limit(line, id)
  local known = line.limits[id]
  if known ~= nil then return known end
  return read_limit(line, id, line.stored and call('HGET', line.base .. 'limits', id))
end

local function window_in(line, id, metric, period, key)
  key = key or id .. ':' .. metric .. ':' .. period
  local w = line.windows[key]
  if w then return w end
  w = window_for(line.org, id, metric, period)
  line.windows[key] = w
  w.limit = NEVER_MS
  if line.stored then
    local known = known_limit(line, id)
    if known and known.key == key then w.limit = known.value
    elseif known then w.limit = tonumber(call('HGET', line.base .. 'values', key) or NEVER_MS) end
  end
  return w
end

-- Finds the windows of each candidate, beside its charges. Heads and limits are read in one call.
local function attach_windows(line, candidates)
  local charges, ids = {}, {}
  for _, candidate in ipairs(candidates) do
    for _, charge in ipairs(candidate.charges) do
      if not line.windows[charge.key] then
        charges[#charges + 1] = charge
        if line.stored and line.limits[charge.id] == nil then
          line.limits[charge.id] = false
          ids[#ids + 1] = charge.id
        end
      end
    end
  end
  if #charges > 0 then open_windows(line.org, charges) end
  if #ids > 0 then
    local texts = call('HMGET', line.base .. 'limits', unpack(ids))
    for at, id in ipairs(ids) do read_limit(line, id, texts[at]) end
  end
  for _, candidate in ipairs(candidates) do
    local found = {}
    for index, charge in ipairs(candidate.charges) do
      found[index] = window_in(line, charge.id, charge.metric, charge.period, charge.key)
    end
    candidate.windows = found
  end
end

-- Queues ---------------------------------------------------------------------------------------------------------------

-- Whether waiters with these candidates can differ in size.
local function has_sizes(candidates)
  for _, candidate in ipairs(candidates) do
    for _, charge in ipairs(candidate.charges) do
      if QUANTITY[charge.metric] ~= 'requests' then return true end
    end
  end
  return false
end

local function pack_candidates(candidates)
  local packed = {}
  for index, candidate in ipairs(candidates) do
    local flat = { candidate.endpoint, candidate.paced and 1 or 0, candidate.shape }
    for _, charge in ipairs(candidate.charges) do
      local at = #flat
      flat[at + 1], flat[at + 2], flat[at + 3], flat[at + 4] = charge.id, charge.metric, charge.period, charge.column
    end
    packed[index] = flat
  end
  return packed
end

local function unpack_candidates(packed)
  local candidates = {}
  for index, flat in ipairs(packed) do
    local charges = {}
    for at = 4, #flat, 4 do
      local id, metric, period = flat[at], flat[at + 1], flat[at + 2]
      local key = id .. ':' .. metric .. ':' .. period
      charges[#charges + 1] = { id = id, key = key, metric = metric, period = period, column = flat[at + 3] }
    end
    candidates[index] = { endpoint = flat[1], paced = flat[2] == 1, shape = flat[3], charges = charges }
  end
  return candidates
end

local function queue_of(line, id)
  local queue = line.queues[id]
  if queue then return queue end
  local found = call('HMGET', line.base .. 'queues', id, id .. ':t')
  local fixed, moving = unpack_value(found[1]), unpack_value(found[2])
  queue = { id = id, rank = fixed[1], name = fixed[2], caller = fixed[3], only = fixed[4] }
  queue.candidates = unpack_candidates(fixed[5])
  queue.tag, queue.parked, queue.places, queue.length = moving[1], moving[2], moving[3], moving[4]
  attach_windows(line, queue.candidates)
  queue.sizes = has_sizes(queue.candidates)
  queue.stored = true
  line.queues[id] = queue
  return queue
end

-- The queue of a waiter: one class, one queue of the ask, the same endpoints and limits. `only`: the one candidate (from one) that
-- its waiters wait for, 0 for any. It is kept once a request waits in it. A new one is empty, as a new place is.
local function queue_for(line, waiter, only)
  local text = { waiter.rank, waiter.name, only }
  for _, candidate in ipairs(waiter.candidates) do
    text[#text + 1] = candidate.endpoint .. (candidate.paced and '~' or ' ') .. candidate.shape
  end
  local id = redis.sha1hex(table.concat(text, '\n'))
  local queue = line.queues[id]
  if queue then return queue end
  if line.stored and call('HEXISTS', line.base .. 'queues', id) == 1 then return queue_of(line, id) end
  queue = { id = id, rank = waiter.rank, name = waiter.name, caller = waiter.caller, only = only }
  queue.candidates = waiter.candidates
  queue.tag, queue.parked, queue.places, queue.length = 0, '', {}, 0
  queue.sizes = has_sizes(queue.candidates)
  line.queues[id] = queue
  call('DEL', line.base .. 'queue:' .. id, line.base .. 'size:' .. id)
  return queue
end

-- Waiters --------------------------------------------------------------------------------------------------------------

-- A waiter in sorted sets: those of one score are in order of arrival.
local function member_of(waiter)
  return format(SEQUENCE_TEXT, waiter.sequence) .. waiter.op
end

local function op_of(member)
  return sub(member, SEQUENCE_BYTES + 1)
end

-- The waiter, or false.
local function waiter_of(line, op)
  local waiter = line.waiters[op]
  if waiter ~= nil then return waiter end
  local text = line.size > 0 and call('HGET', line.base .. 'waiters', op)
  if not text then return false end
  local record = unpack_value(text)
  local queue = queue_of(line, record[1])
  waiter = { op = op, org = line.org, queue = queue, rank = queue.rank, name = queue.name, caller = queue.caller }
  waiter.candidates = queue.candidates
  waiter.sequence, waiter.deadline, waiter.wait_max = record[2], record[3], record[4]
  waiter.slot, waiter.on, waiter.ticket = record[5], record[6], record[7]
  waiter.gateway, waiter.mixed, waiter.costs, waiter.size = record[8], record[9], record[10], record[11]
  waiter.told, waiter.firm, waiter.policy, waiter.tag = record[12], record[13], record[14], record[15]
  waiter.member, waiter.late = member_of(waiter), waiter.slot < 0
  line.waiters[op] = waiter
  return waiter
end

local function pack_waiter(w)
  return pack({
    w.queue.id, w.sequence, w.deadline, w.wait_max, w.slot, w.on, w.ticket, w.gateway, w.mixed, w.costs, w.size,
    w.told, w.firm, w.policy, w.tag,
  })
end

local function waiter_at(line, key, index)
  local member = call('ZRANGE', key, index, index)[1]
  return member and waiter_of(line, op_of(member)) or nil
end

local function head_of(line, queue)
  local head = queue.head
  if not head then
    head = waiter_at(line, line.base .. 'queue:' .. queue.id, 0)
    queue.head = head
  end
  return head
end

-- The first of the smallest: if it does not fit, no waiter in the queue does.
local function smallest_of(line, queue)
  if not queue.sizes then return head_of(line, queue) end
  return waiter_at(line, line.base .. 'size:' .. queue.id, 0)
end

local function count(line, name, change)
  local key = line.base .. 'counts'
  if call('HINCRBY', key, name, change) == 0 then call('HDEL', key, name) end
end

-- How many wait in the queue of the ask, or for this held limit.
local function counted(line, name)
  return line.size > 0 and tonumber(call('HGET', line.base .. 'counts', name) or 0) or 0
end

local function units_name(w, rank) return 'units:' .. rank .. ':' .. w.key end

-- Every held limit once that the waiter's candidates charge.
local function count_units(line, waiter, change)
  local seen = {}
  for _, candidate in ipairs(waiter.candidates) do
    for _, w in ipairs(candidate.windows) do
      if w.held and not seen[w.key] then
        seen[w.key] = true
        count(line, units_name(w, waiter.rank), change)
      end
    end
  end
end

-- Tags -----------------------------------------------------------------------------------------------------------------

local function served_tag(line, rank, caller)
  local name = rank .. ':' .. caller
  local tag = line.served[name]
  if not tag then
    tag = line.stored and tonumber(call('HGET', line.base .. 'served', name) or 0) or 0
    line.served[name] = tag
  end
  return tag
end

local function note_served(line, rank, caller, tag)
  local name = rank .. ':' .. caller
  line.served[name] = tag
  call('HSET', line.base .. 'served', name, number_text(tag))
end

-- What the caller was served, or what everybody has been.
local function start_tag(line, rank, caller)
  return max(line.virtual[rank], served_tag(line, rank, caller))
end

-- While it is in no queue, an ask has a tag of its own.
local function tag_of(waiter)
  return waiter.queue and waiter.queue.tag or waiter.tag
end

-- Order of two waiters: negative, zero or positive.
local function compare_waiters(a, b)
  if a.rank ~= b.rank then return a.rank - b.rank end
  local left, right = tag_of(a), tag_of(b)
  if left ~= right then return left - right end
  return a.sequence - b.sequence
end
