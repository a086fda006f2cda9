-- Many settlements and asks of one shard in one step: the common case, in which no request waits in any of these organizations and every ask fits
-- its first candidate now. The result is that of batch.lua, which handles everything else. Nothing is written before all is decided.
--
-- This text runs once in the life of a server: its functions stay, and what it remembers of organizations, shapes and windows saves most
-- of the work of a call. It remembers only what follows from a text or a name; what windows hold is read by every call.
--
-- Arguments as in shapes.lua. Returns 'fast', the time, the sequence, for each settlement 1, or 0 when it was unknown, and for each shape what each
-- window of its first candidate has used and when it is empty.
local REMEMBERED_MAX = 5000
-- By prefix: organizations by id, shapes of asks by their text, and shapes of leases by their name. `shard` is that of the call.
local shards, shard, remembered = {}, nil, 0
-- Counts calls: a window is read by the first in a call that needs it.
local turn = 0

-- Between calls only, since a call must not have two tables of one window.
local function start_call(prefix)
  if remembered >= REMEMBERED_MAX then shards, remembered = {}, 0 end
  PREFIX, turn, shard = prefix, turn + 1, shards[prefix]
  if not shard then
    shard = { organizations = {}, asked = {}, leased = {}, clock = prefix .. 'clock', leases = prefix .. 'leases' }
    shard.expiry, shard.usage, shard.epoch = prefix .. 'expiry', prefix .. 'usage', prefix .. 'epoch'
    shards[prefix] = shard
  end
end

local function organization_of(id)
  local org = shard.organizations[id]
  if not org then
    org = { id = id, line = PREFIX .. id .. ':line', heads = PREFIX .. id .. ':heads', windows = {} }
    shard.organizations[id], remembered = org, remembered + 1
  end
  return org
end

local function window_in(org, key, metric, period)
  local window = org.windows[key]
  if not window then
    window = { org = org.id, key = key, metric = metric, period = period, turn = 0, place = 0, mark = 0, total = 0, amount = 0 }
    org.windows[key] = window
  end
  return window
end

local function is_calendar(period) return not SPAN[period] and period ~= 'none' end

local function asked_shape(text)
  local shape = shard.asked[text]
  if shape then return shape end
  local kind, charged = read_shape(text)
  local org, first = organization_of(kind.org), kind.candidates[1]
  shape = { org = org, lease_ms = kind.lease_ms, paced = first.paced, name = first.shape, n_costs = kind.n_costs[1] }
  shape.alone = #kind.candidates == 1
  shape.cooldown = PREFIX .. kind.org .. ':cooldown:' .. first.endpoint
  shape.charged, shape.limits, shape.columns, shape.intervals = {}, {}, {}, {}
  -- What has to be read: its own windows, and the calendar windows of later candidates, which have to be known too.
  shape.reads, shape.calendars, shape.stored = {}, {}, { kind.org }
  for position, charge in ipairs(first.charges) do
    local metric, period = charge.metric, charge.period
    local window, last = window_in(org, charge.key, metric, period), #shape.stored
    shape.charged[position], shape.reads[position] = window, window
    shape.limits[position], shape.columns[position] = charge.limit, charge.column
    shape.intervals[position] = PACED[metric] and SPAN[period] and interval_of(window, charge.limit) or false
    shape.stored[last + 1], shape.stored[last + 2], shape.stored[last + 3] = charge.key, metric, period
    shape.stored[last + 4] = charge.column
  end
  for _, charge in ipairs(charged) do
    if is_calendar(charge.period) then
      local window = window_in(org, charge.key, charge.metric, charge.period)
      shape.reads[#shape.reads + 1], shape.calendars[#shape.calendars + 1] = window, window
    end
  end
  shard.asked[text], remembered = shape, remembered + 1
  return shape
end

-- Nil when the shape was lost or cannot be read.
local function leased_shape(name, at)
  local shape = shard.leased[name]
  if shape then return shape end
  local text = call('HGET', shapes_key(at), name)
  local stored = text and read_stored_shape(text)
  if not stored then return nil end
  local org, charged, columns = organization_of(stored[1]), {}, {}
  for position = 2, #stored, 4 do
    charged[#charged + 1] = window_in(org, stored[position], stored[position + 1], stored[position + 2])
    columns[#charged] = stored[position + 3]
  end
  shape = { org = org, reads = charged, charged = charged, columns = columns }
  shard.leased[name], remembered = shape, remembered + 1
  return shape
end

-- Notes which windows of a shape have to be read. `opened` has the organizations that are concerned.
local function want(shape, opened)
  local org, reads = shape.org, shape.reads
  if org.turn ~= turn then
    org.turn, org.count, org.keys, org.opened = turn, 0, { org.heads, nil, nil, nil, nil, nil, nil, nil }, { nil, nil, nil, nil, nil, nil, nil }
    opened[#opened + 1] = org
  end
  local keys, list, count = org.keys, org.opened, org.count
  for index = 1, #reads do
    local window = reads[index]
    if window.turn ~= turn then
      count = count + 1
      window.turn, keys[count + 1], list[count] = turn, window.key, window
    end
  end
  org.count = count
end

local function read_windows(opened)
  for number = 1, #opened do
    local org = opened[number]
    local list, count = org.opened, org.count
    local texts = count > 0 and call('HMGET', unpack(org.keys, 1, count + 1))
    for index = 1, count do
      local window = list[index]
      -- A window that an earlier call used.
      if window.changed or window.from or window.ring ~= nil then
        window.changed, window.from, window.ring, window.cleared = nil, nil, nil, nil
      end
      if window.idle then window.idle = false end
      read_head(window, texts[index])
    end
  end
end

local function write_opened(opened)
  for number = 1, #opened do
    local org = opened[number]
    local heads, list, last = { org.heads, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil }, org.opened, 1
    for index = 1, org.count do
      local window = list[index]
      if window.dirty then last = put_head(heads, last, window) end
    end
    if last > 1 then call('HSET', unpack(heads, 1, last)) end
  end
end

-- Whether an ask fits its first candidate.
local function fits(shape, costs, paced)
  local charged, limits, columns, intervals = shape.charged, shape.limits, shape.columns, shape.intervals
  for position = 1, #charged do
    local window, column = charged[position], columns[position]
    local cost = column == 0 and 1 or costs[column]
    if window.total + cost > limits[position] then return false end
    -- The reply is read backwards from the end of the batch, which a window without a charge here does not allow.
    if cost == 0 then
      if window.amount == 0 then window.idle = true end
    elseif window.idle then
      return false
    end
    if paced and intervals[position] and window.mark + intervals[position] > NOW then return false end
  end
  return true
end

local function charge(shape, costs)
  local charged, columns, intervals = shape.charged, shape.columns, shape.intervals
  for position = 1, #charged do
    local window, column, interval = charged[position], columns[position], intervals[position]
    local cost = column == 0 and 1 or costs[column]
    window.total, window.amount, window.dirty = window.total + cost, window.amount + cost, true
    if interval then note_release(window, window.mark + interval) end
  end
end

-- Nil unless no request waits in any of the organizations, and no cooldown is in force. Otherwise the shapes of the asks.
local function shapes_at(ARGV, n_org, shape_at, n_shape)
  local lines, names, shapes = { organization_of(ARGV[ORGS_AT]).line }, { shard.clock, shard.epoch, nil }, { nil }
  for index = 2, n_org do lines[index] = organization_of(ARGV[ORGS_AT - 1 + index]).line end
  if call('EXISTS', unpack(lines)) > 0 then return nil end
  for index = 1, n_shape do
    local shape = asked_shape(ARGV[shape_at + index - 1])
    shapes[index], names[index + 2] = shape, shape.cooldown
  end
  local found = call('MGET', unpack(names, 1, n_shape + 2))
  read_clock(ARGV[1], found[1], found[2])
  for index = 1, n_shape do
    if found[index + 2] and (tonumber(found[index + 2]) or 0) > NOW then return nil end
  end
  return shapes
end

-- Leases of settlements, decoded: { shape, when, costs }, false for one that is unknown. Nil when this is not the common case: a lease in
-- another state or that cannot be read, or an ask of an operation that has one.
local function leases_of(ops, n_settle, n_ask)
  local texts, leases = call('HMGET', shard.leases, unpack(ops, 1, n_settle + n_ask)), { nil }
  for index = n_settle + 1, n_settle + n_ask do
    if texts[index] then return nil end
  end
  for index = 1, n_settle do
    local text, lease = texts[index], false
    if text then
      if byte(text) ~= DISPATCHED then return nil end
      local when, _, _, costs, name_at = lease_numbers(text)
      if not when then return nil end
      local shape = leased_shape(sub(text, name_at, name_at + SHAPE_BYTES - 1), when)
      if not shape then return nil end
      lease = { shape, when, costs }
    end
    leases[index] = lease
  end
  return leases
end

-- Gives back what the leases hold. Returns the entry for the ledger, and the operations that have ended.
local used = { requests = 1, tokens = 0, spend = 0 }
local function settle(ARGV, leases, settle_at, reply)
  local entry, ended, at = { shard.usage, '*', nil, nil }, { nil }, settle_at
  for index = 1, #leases do
    local lease = leases[index]
    entry[2 * index + 1], entry[2 * index + 2] = 'r', ARGV[at + 3]
    if lease then
      local shape, tokens = lease[1], tonumber(ARGV[at + 1])
      used.tokens, used.spend = tokens, tonumber(ARGV[at + 2])
      settle_charges(shape.charged, shape.columns, lease[3], lease[2], tokens and used, true)
      ended[#ended + 1] = ARGV[at]
    end
    reply[index + 3] = lease and 1 or 0
    at = at + SETTLE_FIELDS
  end
  return entry, ended
end

-- Charges all asks. Returns the leases and when they end, as arguments; nil when one does not fit.
local function admit(ARGV, asks, n_ask, shapes)
  local made, expiries, now, sequence = { shard.leases, nil, nil }, { shard.expiry, nil, nil }, NOW, SEQUENCE
  local shape, expires
  for index = 1, n_ask do
    local at = asks[index]
    local op, asked, first, costs = ARGV[at], shapes[tonumber(ARGV[at + 1])], byte(ARGV[at + 2]), { nil, nil }
    if asked ~= shape then
      shape, expires = asked, format('%.0f', now + asked.lease_ms)
    end
    for position = 1, shape.n_costs do costs[position] = tonumber(ARGV[at + ASK_FIELDS - 1 + position]) end
    -- An attempt failed before ('-'), or the request does not wait ('0').
    if first == 45 or not fits(shape, costs, shape.paced and first ~= 48) then return nil end
    charge(shape, costs)
    sequence = sequence + 1
    made[2 * index], made[2 * index + 1] = op, encode_dispatched(now, sequence, 0, costs, shape.name, ARGV[at + 3])
    expiries[2 * index], expiries[2 * index + 1] = expires, op
  end
  SEQUENCE = sequence
  return made, expiries
end

local function keep_shapes(shapes)
  local today = floor(NOW / DAY_MS)
  if shard.day ~= today then shard.day, shard.shapes = today, shapes_key(NOW) end
  for index = 1, #shapes do
    local shape = shapes[index]
    if call('HEXISTS', shard.shapes, shape.name) == 0 then
      call('HSET', shard.shapes, shape.name, pack(shape.stored))
      call('PEXPIRE', shard.shapes, SHAPES_TTL_MS)
    end
  end
end

local function write_leases(n_settle, entry, ended, n_ask, shapes, made, expiries)
  keep_clock()
  if n_settle > 0 then
    call('XADD', unpack(entry, 1, 2 * n_settle + 2))
    if ended[1] then
      call('HDEL', shard.leases, unpack(ended))
      call('ZREM', shard.expiry, unpack(ended))
    end
  end
  if n_ask > 0 then
    keep_shapes(shapes)
    call('HSET', unpack(made, 1, 2 * n_ask + 1))
    call('ZADD', unpack(expiries, 1, 2 * n_ask + 1))
  end
end

local function all_known(shapes)
  for index = 1, #shapes do
    local shape = shapes[index]
    local calendars = shape.calendars
    for position = 1, #calendars do
      if not calendars[position].known then return false end
    end
    -- Short windows of later candidates are not read here.
    if SHORT_UNKNOWN then
      if not shape.alone then return false end
      for position = 1, #shape.charged do
        local window = shape.charged[position]
        if SPAN[window.period] and not window.known then return false end
      end
    end
  end
  return true
end

local function add_usage(reply, position, shapes)
  for index = 1, #shapes do
    local charged = shapes[index].charged
    for number = 1, #charged do
      local total, reserved, reset = usage_of(charged[number])
      reply[position + 1], reply[position + 2] = total + reserved, reset
      position = position + 2
    end
  end
end

-- Nil when all rules are needed.
return function(KEYS, ARGV)
  if ARGV[3] ~= '' or ARGV[6] ~= '0' then return nil end
  local n_org, n_settle, n_shape, n_ask = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[7]), tonumber(ARGV[8])
  start_call(KEYS[1])
  local settle_at = ORGS_AT + n_org
  local shape_at = settle_at + SETTLE_FIELDS * n_settle
  local shapes = shapes_at(ARGV, n_org, shape_at, n_shape)
  if not shapes then return nil end

  local ops, asks, opened, at = { nil }, { nil }, { nil }, settle_at
  for index = 1, n_settle do
    ops[index], at = ARGV[at], at + SETTLE_FIELDS
  end
  at = at + n_shape
  for index = 1, n_ask do
    ops[n_settle + index], asks[index] = ARGV[at], at
    at = at + ASK_FIELDS + shapes[tonumber(ARGV[at + 1])].n_costs
  end
  local leases = leases_of(ops, n_settle, n_ask)
  if not leases then return nil end
  for index = 1, n_settle do
    if leases[index] then want(leases[index][1], opened) end
  end
  for index = 1, n_shape do want(shapes[index], opened) end
  read_windows(opened)
  if not all_known(shapes) then return nil end

  local reply = { 'fast', NOW - SHIFT, 0, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil }
  local entry, ended = settle(ARGV, leases, settle_at, reply)
  local made, expiries = admit(ARGV, asks, n_ask, shapes)
  if not made then return nil end
  write_leases(n_settle, entry, ended, n_ask, shapes, made, expiries)
  write_opened(opened)
  reply[3] = SEQUENCE
  add_usage(reply, n_settle + 3, shapes)
  return reply
end
