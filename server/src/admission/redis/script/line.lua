-- What the other scripts call: an ask, a step, a waiter that leaves, limits that change.

-- How often the places that a step changed itself are looked at in it.
local ROUNDS_MAX = 4

local function line_exists(org) return line_of(org).size > 0 end

local function touch(org, w)
  local line = line_of(org)
  if line.size > 0 then touch_place(line, w.key) end
end

-- Limits ---------------------------------------------------------------------------------------------------------------

-- Notes what the limit of a window is by now, for those who wait.
local function keep_value(line, w)
  local known = known_limit(line, w.id)
  if known and known.key == w.key then
    if known.value ~= w.limit then known.value, known.dirty = w.limit, true end
  elseif known then
    line.values = line.values or {}
    line.values[w.key] = w.limit
  end
end

local function set_limit(line, w, limit)
  if w.limit == limit then return end
  w.limit, w.next, w.checked = limit, nil, nil
  if line.size == 0 then return end
  keep_value(line, w)
  touch_place(line, w.key)
end

-- The limits of an ask: the newest value counts that those who wait have seen.
local function apply_limits(line, ask)
  attach_windows(line, ask.candidates)
  for _, candidate in ipairs(ask.candidates) do
    for position, charge in ipairs(candidate.charges) do
      local w = candidate.windows[position]
      local known = line.size > 0 and known_limit(line, w.id)
      if known and known.version >= ask.version then set_limit(line, w, known.limit)
      else
        if known then known.version, known.limit, known.dirty = ask.version, charge.limit, true end
        set_limit(line, w, charge.limit)
      end
    end
  end
end

-- While it waits, a waiter's limits are kept, so that they can change.
local function keep_limits(line, waiter, version)
  for _, candidate in ipairs(waiter.candidates) do
    for held = 0, 1 do
      for _, w in ipairs(candidate.windows) do
        if w.held == (held == 1) then
          if known_limit(line, w.id) then keep_value(line, w)
          else line.limits[w.id] = { version = version, limit = w.limit, key = w.key, value = w.limit, dirty = true } end
        end
      end
    end
  end
end

-- `changes`: { id, limit } each; without a limit it was removed.
local function change_limits(org, version, changes)
  local line = line_of(org)
  if line.size == 0 then return end
  for _, change in ipairs(changes) do
    local known = known_limit(line, change.id)
    if known and known.version <= version then
      known.version, known.limit, known.dirty = version, change.limit or NEVER_MS, true
      local id, metric, period = string.match(known.key, '^(.*):([^:]+):([^:]+)$')
      set_limit(line, window_in(line, id, metric, period), known.limit)
    end
  end
end

-- Steps ----------------------------------------------------------------------------------------------------------------

local function give_up(line, waiter)
  leave_line(line, waiter)
  forget_waiting(waiter.op)
  released(waiter.op, line.org, waiter.gateway, refuse(line, waiter))
end

-- Its reserved moment has come: it goes, paced or not, if what was dispatched leaves room.
local function serve_promise(line, waiter)
  if not reaches(waiter.gateway) then
    unreserve(line, waiter)
    return wait_late(line, waiter)
  end
  if not blocked_by(line, waiter, waiter.on, false, true) then return let_go(line, waiter, waiter.on) end
  -- A limit was lowered, an endpoint is cooling, an estimate was too low, or a unit is missing.
  lose_only(line, waiter)
  local other = candidate_now(line, waiter, false, true)
  if other > 0 then return let_go(line, waiter, other) end
  unreserve(line, waiter)
  for index = 1, #waiter.candidates do
    local slot = promise_at(line, waiter, index)
    if slot and slot > NOW then return reserve_for(line, waiter, index, slot) end
  end
  wait_late(line, waiter)
end

-- A last try for one without a promise.
local function end_of_wait(line, waiter)
  local index = candidate_now(line, waiter, false, true)
  if index > 0 then let_go(line, waiter, index) else give_up(line, waiter) end
end

-- The first of a sorted set whose moment has come.
local function first_due(line, part)
  if line.size == 0 then return nil end
  local found = call('ZRANGE', line.base .. part, 0, 0, 'WITHSCORES')
  if found[1] and tonumber(found[2]) <= NOW then return waiter_of(line, op_of(found[1])) end
  return nil
end

-- One step of the line: those that are due go, then those that fit, in order. Returns whether there was something to do.
local function step(org)
  local line = line_of(org)
  if line.size == 0 then return false end
  local moved = false
  local waiter = first_due(line, 'due')
  while waiter do
    moved = true
    serve_promise(line, waiter)
    waiter = first_due(line, 'due')
  end
  waiter = first_due(line, 'late')
  while waiter do
    moved = true
    end_of_wait(line, waiter)
    waiter = first_due(line, 'late')
  end
  for _, key in ipairs(call('ZRANGE', line.base .. 'wake', '-inf', number_text(NOW), 'BYSCORE')) do
    line.touched[key] = true
  end
  for _ = 1, ROUNDS_MAX do
    local list = take_touched(line)
    if #list == 0 then break end
    moved = true
    for _, each in ipairs(list) do serve(line, each.key) end
    for _, each in ipairs(list) do settle_place(line, each.key) end
  end
  -- A step is bounded; what is left is for the next one, immediately, so that no arrival is ahead of it.
  for _, each in ipairs(take_touched(line)) do set_at(line, place_in(line, each.key), NOW) end
  return moved
end

-- Takes a waiter out whose request has gone. The caller steps.
local function leave(org, op)
  local line = line_of(org)
  local waiter = waiter_of(line, op)
  if not waiter then return end
  leave_line(line, waiter)
end

-- When the line has something to do if nothing else happens.
local function next_ms(org)
  local line = line_of(org)
  if line.size == 0 then return NEVER_MS end
  local at = NEVER_MS
  for _, part in ipairs({ 'due', 'late', 'wake' }) do
    local found = call('ZRANGE', line.base .. part, 0, 0, 'WITHSCORES')
    if found[2] then at = min(at, tonumber(found[2])) end
  end
  return at
end

-- It is unknown when a unit is free, so a promise that needs one may not be kept. `packed`: see `pack_candidates`.
local function is_firm(packed, on)
  local firm, flat = true, packed[on] or {}
  for at = 5, #flat, 4 do firm = firm and not HELD[flat[at]] end
  return firm
end

-- When a waiter can go from a place: the line's next look, which is soon also where only promises hold it back.
local function slot_at(line, key, look)
  if look and look > NOW + LOOK_AGAIN_MS then return look end
  local place = place_in(line, key)
  local at = place and opens_at(line, place) or 0
  return at > NOW and at or NEVER_MS
end

-- In how many milliseconds each waiter can go, as far as that is known: where its queue waits, or when its own promise is due. -1 when it
-- is unknown, or when it does not wait. Reads records as they are stored: opening every window would take ten times as long.
local function next_slots(org, ops)
  local line, answer, slots = line_of(org), {}, {}
  local records = line.size > 0 and call('HMGET', line.base .. 'waiters', unpack(ops)) or {}
  for index = 1, #ops do
    local record, at = records[index] and unpack_value(records[index]), NEVER_MS
    if record then
      local found = call('HMGET', line.base .. 'queues', record[1], record[1] .. ':t')
      local slot, on, places = record[5], record[6], unpack_value(found[2])[3]
      if slot >= 0 and is_firm(unpack_value(found[1])[5], on) then at = max(NOW, slot) end
      for _, key in ipairs(places) do
        slots[key] = slots[key] or slot_at(line, key, tonumber(call('ZSCORE', line.base .. 'wake', key) or NEVER_MS))
        at = min(at, slots[key])
      end
    end
    answer[index] = format('%.0f', at < NEVER_MS and ceil(at - NOW) or -1)
  end
  return answer
end

-- Asks -----------------------------------------------------------------------------------------------------------------

local function new_waiter(line, ask)
  local waiter = {
    op = ask.op, org = ask.org, name = ask.queue, rank = ask.rank, caller = ask.caller,
    candidates = ask.candidates, costs = ask.costs, wait_max = ask.wait_max, deadline = NOW + ask.wait_max,
    sequence = ask.sequence, mixed = ask.mixed, gateway = ask.gateway, draft = ask.draft, tried = ask.tried, attempt = ask.attempt,
    slot = -1, on = 0, size = 0, tag = start_tag(line, ask.rank, ask.caller),
  }
  for index, candidate in ipairs(ask.candidates) do
    for _, charge in ipairs(candidate.charges) do waiter.size = waiter.size + cost_of(ask.costs[index], charge) end
  end
  return waiter
end

-- `preferred` takes the first candidate that is free now or can be promised; `soonest` the first that is free now, else the first that
-- can be promised. Returns the candidate and, unless it goes now, the moment and whether it is firm.
local function choose(line, ask, waiter)
  -- A release that was given back unused had its turn in the pace.
  local paced = ask.wait_max > 0 and not (ask.release and not ask.release.dispatched)
  if ask.selection == 'soonest' then
    for index = 1, #ask.candidates do
      if not blocked_by(line, waiter, index, paced, false) then return index end
    end
  end
  for index = 1, #ask.candidates do
    if ask.selection == 'preferred' and not blocked_by(line, waiter, index, paced, false) then return index end
    local slot, firm = promise_at(line, waiter, index)
    if slot then return index, slot, firm end
  end
  return nil
end

local function waiting_answer(waiter)
  return { 'wait', waiter.told, waiter.deadline - NOW, waiter.firm and 1 or 0, waiter.policy }
end

-- A waiter asks again: it gets the same answer, or nil when this step has done something for it.
local function ask_again(org, op)
  step(org)
  local waiter = waiter_of(line_of(org), op)
  return waiter and waiting_answer(waiter) or nil
end

-- Decides a new ask after a step. The caller has given back what an earlier attempt held.
local function ask_line(ask)
  local line = line_of(ask.org)
  -- A limit that this ask brings news of moves those who wait for it.
  apply_limits(line, ask)
  step(ask.org)
  local waiter = new_waiter(line, ask)
  local index, slot, firm = choose(line, ask, waiter)
  if not index then return refuse(line, waiter) end
  if not slot then
    dispatch_now(line, waiter, index, NOW + ask.lease_ms)
    return { 'admitted', index - 1 }
  end
  if counted(line, 'queue:' .. waiter.name) >= ask.waiters_max then
    return { 'refused', 'queue_full', RETRY_UNKNOWN_MS, '', RETRY_UNKNOWN_MS }
  end
  local _, id = blocked_by(line, waiter, index, false, false)
  waiter.told, waiter.firm, waiter.policy = index - 1, firm, id or ''
  put_waiting(ask)
  join(line, waiter, ask.selection == 'preferred' and index or 0, index, slot)
  keep_limits(line, waiter, ask.version)
  return waiting_answer(waiter)
end

-- Writes what changed --------------------------------------------------------------------------------------------------

local function flush_records(line)
  local waiters, queues, places = { line.base .. 'waiters' }, { line.base .. 'queues' }, { line.base .. 'places' }
  for op, waiter in pairs(line.waiters) do
    if waiter and waiter.dirty then
      waiters[#waiters + 1], waiters[#waiters + 2] = op, pack_waiter(waiter)
      waiter.dirty = nil
    end
  end
  for id, queue in pairs(line.queues) do
    if queue.length == 0 then
      if queue.stored then call('HDEL', line.base .. 'queues', id, id .. ':t') end
      line.queues[id] = nil
    elseif queue.dirty then
      if not queue.stored then
        local fixed = { queue.rank, queue.name, queue.caller, queue.only, pack_candidates(queue.candidates) }
        queues[#queues + 1], queues[#queues + 2] = id, pack(fixed)
        queue.stored = true
      end
      queues[#queues + 1], queues[#queues + 2] = id .. ':t', pack({ queue.tag, queue.parked, queue.places, queue.length })
      queue.dirty = nil
    end
  end
  for key, place in pairs(line.places) do
    if place and place.dirty then
      places[#places + 1], places[#places + 2] = key, pack_place(place)
      place.dirty = nil
    end
  end
  for _, command in ipairs({ waiters, queues, places }) do
    if #command > 1 then call('HSET', unpack(command)) end
  end
end

local function flush_limits(line)
  local limits = { line.base .. 'limits' }
  for id, known in pairs(line.limits) do
    if known and known.dirty then
      limits[#limits + 1], limits[#limits + 2] = id, pack({ known.version, known.limit, known.key, known.value })
      known.dirty = nil
    end
  end
  if #limits > 1 then call('HSET', unpack(limits)) end
  for key, limit in pairs(line.values or {}) do call('HSET', line.base .. 'values', key, number_text(limit)) end
  line.values = nil
end

-- `skipped`: organizations whose line cannot be read and is about to be dropped.
local function flush_line(skipped)
  for org, line in pairs(lines) do
    local is_skipped = skipped and skipped[org]
    if not is_skipped then flush_plans(org) end
    if line.size > 0 and not is_skipped then
      for op in pairs(line.gone) do
        if not line.waiters[op] then call('HDEL', line.base .. 'waiters', op) end
      end
      for key in pairs(line.dropped) do
        if not line.places[key] then call('HDEL', line.base .. 'places', key) end
      end
      line.gone, line.dropped = {}, {}
      flush_records(line)
      flush_limits(line)
      local touched = {}
      for key in pairs(line.touched) do touched[#touched + 1] = key end
      local virtual = line.virtual
      call(
        'HSET', line.base .. 'line', 'n', line.size, 'v0', number_text(virtual[0]), 'v1', number_text(virtual[1]),
        'v2', number_text(virtual[2]), 'tickets', line.tickets, 'touched', table.concat(touched, '\n'),
        'places', line.n_places
      )
    end
  end
end
