-- The life of an operation, for all but the common case: its lease, what it is charged, and what it gives back. Leases are read once,
-- changed in memory and written at the end.
local shapes, lease_cache, lease_changes = {}, {}, {}
-- Keys of an organization's line; the head of line-state.lua says what they hold.
local LINE_PARTS = { 'line', 'waiters', 'queues', 'places', 'wake', 'due', 'late', 'served', 'counts', 'limits', 'values' }
-- What this script let go, or refused at its deadline: { operation, gateway, answer }; and the same by operation.
local releases, released_answers = {}, {}

-- A shape by its name, and by when the lease that refers to it was written. Nil when it was lost or cannot be read.
local function shape_of(name, at)
  local shape = shapes[name]
  if shape then return shape end
  local text = call('HGET', shapes_key(at), name)
  shape = text and read_stored_shape(text)
  shapes[name] = shape
  return shape
end

local function keep_shape(name, at, shape)
  local key = shapes_key(at)
  shapes[name] = shapes[name] or shape
  if call('HSETNX', key, name, pack(shape)) == 1 then call('PEXPIRE', key, SHAPES_TTL_MS) end
end

-- Operations whose lease this version cannot read, with its text, and those whose lease is stored as a late one.
local unreadable, stored_late = {}, {}

local function has_all(lease, kinds)
  for name, kind in pairs(kinds) do
    if type(lease[name]) ~= kind then return false end
  end
  return true
end

local STORED = {
  waiting = { org = 'string', sequence = 'number', draft = 'string' },
  tried = { org = 'string', sequence = 'number', tried = 'table' },
  dispatched = { org = 'string', sequence = 'number', draft = 'string', at = 'number', candidate = 'number', costs = 'table', shape = 'string' },
}

-- Nil when this version cannot read it.
local function decode_lease(text)
  local kind = byte(text)
  if kind == OTHER then
    local is_read, lease = pcall(unpack_value, sub(text, 2))
    local kinds = is_read and type(lease) == 'table' and STORED[lease.state]
    return kinds and has_all(lease, kinds) and lease or nil
  end
  if kind ~= DISPATCHED and kind ~= LATE then return nil end
  local at, sequence, candidate, costs, position = lease_numbers(text)
  if not at then return nil end
  local lease = { state = kind == LATE and 'late' or 'dispatched', at = at, sequence = sequence, candidate = candidate, costs = costs }
  lease.shape = sub(text, position, position + SHAPE_BYTES - 1)
  lease.draft = sub(text, position + SHAPE_BYTES)
  local shape = shape_of(lease.shape, at)
  lease.org = shape and shape[1]
  return lease
end

-- { op, state, org, at, sequence, candidate, costs, shape, draft, tried, attempt }; nil when there is none. `attempt`: how many were sent before, nil
-- for none. One that cannot be read is as good as none: the next call for the operation writes another, and the sweep sets it aside.
local function lease_of(op)
  local lease = lease_cache[op]
  if lease ~= nil then return lease or nil end
  local text = call('HGET', PREFIX .. 'leases', op)
  lease = text and decode_lease(text) or false
  if lease then
    lease.op = op
    stored_late[op] = lease.state == 'late' or nil
  elseif text then
    unreadable[op] = text
  end
  lease_cache[op] = lease
  return lease or nil
end

-- Without `expires`, the lease ends when it would have ended.
local function put_lease(lease, expires)
  lease_cache[lease.op], lease_changes[lease.op] = lease, expires or lease_changes[lease.op] or true
end

local function forget(op)
  lease_cache[op], lease_changes[op] = false, true
end

-- An attempt was sent and holds nothing any more: the lease keeps its draft until the operation is settled.
local function keep_tried(lease, tried, expires)
  put_lease({ op = lease.op, state = 'tried', org = lease.org, sequence = lease.sequence, tried = tried }, expires)
end

-- Opens the windows of a shape with one read. A shape is a list: the organization, then for each charge the window, metric, period and which
-- of the costs. Returns the windows, and which of the costs each was charged.
local function open_shape(shape)
  local org, charges, charged, columns = shape[1], {}, {}, {}
  for position = 2, #shape, 4 do
    charges[#charges + 1] = { key = shape[position], metric = shape[position + 1], period = shape[position + 2] }
    columns[#charges] = shape[position + 3]
  end
  open_windows(org, charges)
  for position, charge in ipairs(charges) do charged[position] = windows[org][charge.key] end
  return charged, columns
end

-- The part of a shape that is held while a request is in flight, or the other.
local function part_of(shape, held)
  local part = { shape[1] }
  for position = 2, #shape, 4 do
    if (HELD[shape[position + 1]] or false) == held then
      for offset = 0, 3 do part[#part + 1] = shape[position + offset] end
    end
  end
  return part
end

-- A late lease holds no units any more.
local function give_back(lease, used, settled, touch)
  local shape = shape_of(lease.shape, lease.at)
  if not shape then return end
  local charged, columns = open_shape(lease.state == 'late' and part_of(shape, false) or shape)
  settle_charges(charged, columns, lease.costs, lease.at, used, settled, touch)
end

-- The lease of a dispatched operation has run out: its use is unknown, so all but units stays charged, and can be corrected for a while.
local function make_late(lease, touch)
  local shape = shape_of(lease.shape, lease.at)
  if not shape then return forget(lease.op) end
  local charged, columns = open_shape(part_of(shape, true))
  settle_charges(charged, columns, lease.costs, lease.at, false, false, touch)
  lease.state, lease.draft, lease.tried, lease.attempt = 'late', '', nil, nil
  put_lease(lease, NOW + LATE_MS)
end

-- Its gateway is back and the request still in flight: it holds its units again, and is charged already.
local function revive(lease, draft, attempt, expires)
  local shape = shape_of(lease.shape, lease.at)
  if shape then
    for _, window in ipairs((open_shape(part_of(shape, true)))) do hold(window) end
  end
  lease.state, lease.draft, lease.attempt = 'dispatched', draft, attempt
  put_lease(lease, expires)
end

-- Charges a candidate (from one) of an ask or a waiter, now or at an earlier moment, and writes its lease. Pace is the caller's concern.
local function dispatch(entry, index, at, expires)
  local candidate, costs, shape = entry.candidates[index], entry.costs[index], { entry.org }
  for _, charge in ipairs(candidate.charges) do
    local last = #shape
    shape[last + 1], shape[last + 2], shape[last + 3] = charge.key, charge.metric, charge.period
    shape[last + 4] = charge.column
    local window = window_for(entry.org, charge.id, charge.metric, charge.period)
    if window.held then hold(window) else spend(window, at, cost_of(costs, charge)) end
  end
  keep_shape(candidate.shape, at, shape)
  put_lease({
    op = entry.op,
    state = 'dispatched',
    org = entry.org,
    at = at,
    sequence = entry.sequence,
    candidate = index - 1,
    costs = costs,
    shape = candidate.shape,
    draft = entry.draft,
    tried = entry.tried,
    attempt = entry.attempt,
  }, expires)
end

-- Writes the lease of an ask that waits.
local function put_waiting(ask)
  put_lease({
    op = ask.op,
    state = 'waiting',
    org = ask.org,
    at = NOW,
    sequence = ask.sequence,
    draft = ask.draft,
    tried = ask.tried,
    attempt = ask.attempt,
  }, NOW + ask.lease_ms)
end

-- It leaves the line, or gives back what it held.
local function forget_waiting(op)
  local lease = lease_of(op)
  if lease and lease.tried then keep_tried(lease, lease.tried) else forget(op) end
end

-- Appends what each limit has used, and when it is empty again, to an answer.
local function add_windows(answer, org, charges)
  for _, charge in ipairs(charges) do
    local used, reserved, reset = usage_of(window_for(org, charge.id, charge.metric, charge.period))
    answer[#answer + 1] = used + reserved
    answer[#answer + 1] = reset
  end
  return answer
end

-- Appends to a refusal what the window has used that it names, and when that is empty again. Concurrency has no window.
local function add_refusing(answer, org)
  local window = windows[org] and windows[org][answer[6]]
  answer[6] = nil
  if window and window.period ~= 'none' then
    local used, reserved, reset = usage_of(window)
    answer[6], answer[7] = used + reserved, reset
  end
  return answer
end

-- A waiter goes (its answer has the windows of its candidate), or is refused at its deadline.
local function released(op, org, gateway, answer)
  if answer[1] == 'refused' then add_refusing(answer, org) end
  releases[#releases + 1] = { op, gateway, answer }
  released_answers[op] = answer
end

local function encode_lease(lease)
  if lease.state == 'late' then
    return encode_dispatched(lease.at, lease.sequence, lease.candidate, lease.costs, lease.shape, '', LATE)
  end
  if lease.state == 'dispatched' and not lease.tried and not lease.attempt then
    return encode_dispatched(lease.at, lease.sequence, lease.candidate, lease.costs, lease.shape, lease.draft)
  end
  local stored = {}
  for name, value in pairs(lease) do
    if name ~= 'op' and name ~= 'candidates' then stored[name] = value end
  end
  return struct_pack('B', OTHER) .. pack(stored)
end

local function remove_from(set, ops)
  if #ops > 0 then call('ZREM', PREFIX .. set, unpack(ops)) end
end

local function flush_leases()
  local written, ended, expiries, late = { PREFIX .. 'leases' }, {}, { PREFIX .. 'expiry' }, { PREFIX .. 'late' }
  -- Not in `expiry` any more, and not in `late`.
  local unexpired, unlate = {}, {}
  for op, expires in pairs(lease_changes) do
    local lease = lease_cache[op]
    local is_late = lease and lease.state == 'late'
    if lease then
      written[#written + 1] = op
      written[#written + 1] = encode_lease(lease)
      if expires ~= true then
        local list = is_late and late or expiries
        list[#list + 1] = format('%.0f', expires)
        list[#list + 1] = op
      end
    else
      ended[#ended + 1] = op
    end
    if not lease or is_late then unexpired[#unexpired + 1] = op end
    if stored_late[op] and not is_late then unlate[#unlate + 1] = op end
  end
  if #written > 1 then call('HSET', unpack(written)) end
  if #expiries > 1 then call('ZADD', unpack(expiries)) end
  if #late > 1 then call('ZADD', unpack(late)) end
  if #ended > 0 then call('HDEL', PREFIX .. 'leases', unpack(ended)) end
  remove_from('expiry', unexpired)
  remove_from('late', unlate)
end
