-- ARGV: 1 time or '', 2 organization, 3 operation, 4 queue, 5 waiters at most, 6 selection, 7 wait budget,
--   8 lease, 9 gateway, 10 draft, 11–13 for a new ask '', for a fallback 1/0 (dispatched), tokens and spend of the failed
--   attempt, for a lost operation in flight 'restore', candidate and age, 14 number of candidates,
--   then for each candidate: endpoint, paced (1 or 0), number of charges,
--   and for each charge: policy, metric, period, limit, cost
local org, op, queue = ARGV[2], ARGV[3], ARGV[4]
local wait_max, lease_ms = tonumber(ARGV[7]), tonumber(ARGV[8])
local now = time_ms(ARGV[1])
local deadline = now + wait_max

local function read_candidates()
  local candidates, keys, periods, seen, ids, charged = {}, {}, {}, {}, {}, {}
  local at = 15
  for index = 1, tonumber(ARGV[14]) do
    local candidate = { endpoint = ARGV[at], paced = ARGV[at + 1] == '1', charges = {} }
    local count = tonumber(ARGV[at + 2])
    at = at + 3
    for position = 1, count do
      local charge = {
        id = ARGV[at],
        metric = ARGV[at + 1],
        period = ARGV[at + 2],
        limit = tonumber(ARGV[at + 3]),
        cost = tonumber(ARGV[at + 4]),
      }
      at = at + 5
      candidate.charges[position] = charge
      if charge.period ~= 'none' then
        local key = window_key(org, charge.id, charge.metric, charge.period)
        charge.key = key
        charged[#charged + 1] = charge
        if not seen[key] then
          seen[key] = true
          ids[#ids + 1] = charge.id
          keys[#keys + 1] = key
          periods[#periods + 1] = charge.period
        end
      end
    end
    candidates[index] = candidate
  end
  load_windows(keys, periods)
  for _, charge in ipairs(charged) do charge.window = windows[charge.key] end
  local unknown = { 'rebuild' }
  for index, key in ipairs(keys) do
    if not windows[key].known and not BUCKET_MS[periods[index]] then unknown[#unknown + 1] = ids[index] end
  end
  return candidates, unknown
end

local candidates, unknown = read_candidates()
-- Equal for asks with the same candidates, limits and costs. Only waiting operations need it.
local function fingerprint()
  return redis.sha1hex(table.concat(ARGV, '\n', 15))
end

local function cooldown_of(endpoint)
  return tonumber(call('GET', cooldown_key(org, endpoint)) or 0)
end

-- How many operations are ahead of this one in line.
local function ahead_in_line(id, arrived)
  local key = line_key(org, id)
  local score = string.format('%.0f', arrived)
  local ahead = call('ZCOUNT', key, '-inf', '(' .. score)
  for _, other in ipairs(call('ZRANGE', key, score, score, 'BYSCORE')) do
    if other < op then ahead = ahead + 1 end
  end
  return ahead
end

local function blocked_concurrency(charges, arrived)
  for _, charge in ipairs(charges) do
    if HELD[charge.metric] then
      local held = call('SCARD', holders_key(org, charge.id))
      if held + ahead_in_line(charge.id, arrived) >= charge.limit then return charge.id end
    end
  end
  return nil
end

local function admitted(lease, charges)
  local answer = { 'admitted', lease.candidate }
  for _, charge in ipairs(charges) do
    local used, reserved, reset = 0, 0, 0
    if charge.period == 'none' then used = call('SCARD', holders_key(org, charge.id))
    else used, reserved, reset = usage_of(charge.window, now) end
    answer[#answer + 1] = used + reserved
    answer[#answer + 1] = reset
  end
  return answer
end

local function dispatch(lease, charges)
  lease.state = 'dispatched'
  lease.holds = {}
  for _, charge in ipairs(charges) do
    if HELD[charge.metric] then
      call('SADD', holders_key(org, charge.id), op)
      lease.holds[#lease.holds + 1] = charge.id
    end
  end
  write_lease(op, lease)
  return admitted(lease, charges)
end

local function earliest(candidate, from, paced)
  local slot, bound = from, false
  for _ = 1, PASSES_MAX do
    local before = slot
    for _, charge in ipairs(candidate.charges) do
      local later = earliest_for(charge, slot, paced)
      if later > slot then slot, bound = later, charge.id end
    end
    if slot == before then return slot, bound end
  end
  return NEVER_MS, bound
end

-- The earliest moment at which every limit of the candidate has room, and the limit that delays it.
local function place(candidate, held, slot_before)
  for _, charge in ipairs(candidate.charges) do
    if charge.cost > charge.limit then return { slot = NEVER_MS, exceeds = charge.id } end
  end
  local from = max(now, cooldown_of(candidate.endpoint), slot_before)
  local unused = held and held.state == 'dispatched' and ARGV[11] == '0'
  local was_paced = unused or held and held.state == 'waiting' and held.slot <= now
  local slot, bound = earliest(candidate, from, candidate.paced and not was_paced)
  if candidate.paced and was_paced and slot > now then slot, bound = earliest(candidate, from, true) end
  if candidate.paced and slot > deadline then slot, bound = earliest(candidate, from, false) end
  local blocked = nil
  if slot <= now then blocked = blocked_concurrency(candidate.charges, held and held.arrived or now) end
  return { slot = slot, bound = bound, blocked = blocked }
end

local function refusal(reason, retry_after, policy, reset)
  return { 'refused', reason, retry_after, policy or '', reset }
end

-- Returns kind, candidate (from one), slot and, in line, the limit; or a refusal.
local function choose(placements)
  local fitting, blocked, soonest
  for index, placement in ipairs(placements) do
    if not placement.exceeds then
      if placement.blocked then
        blocked = blocked or index
      else
        if not fitting and placement.slot <= deadline then fitting = index end
        if not soonest or placement.slot < placements[soonest].slot then soonest = index end
      end
    end
  end
  if fitting then
    local index = ARGV[6] == 'soonest' and soonest or fitting
    local slot = placements[index].slot
    return slot > now and 'later' or 'now', index, slot
  end
  if blocked then
    local policy = placements[blocked].blocked
    if wait_max > 0 then return 'line', blocked, now, policy end
    return 'refused', refusal('wait_budget', RETRY_UNKNOWN_MS, policy, RETRY_UNKNOWN_MS)
  end
  if not soonest then return 'refused', refusal('exceeds_limit', 0, placements[1].exceeds, 0) end
  local best = placements[soonest]
  return 'refused', refusal('wait_budget', best.slot - deadline, best.bound, best.slot - now)
end

local function concurrency_limits()
  local limits = {}
  for _, candidate in ipairs(candidates) do
    for _, charge in ipairs(candidate.charges) do
      if HELD[charge.metric] then limits[charge.id] = charge.limit end
    end
  end
  return limits
end

local function new_lease(chosen, slot, arrived, waits, tried)
  return {
    org = org,
    queue = queue,
    gateway = ARGV[9],
    draft = ARGV[10],
    arrived = arrived,
    state = 'waiting',
    candidate = chosen - 1,
    slot = slot,
    postings = {},
    holds = {},
    concurrency = concurrency_limits(),
    fingerprint = waits and fingerprint() or '',
    expires = now + lease_ms,
    tried = tried,
  }
end

-- The slot that must not be overtaken: the latest of the queue, or for a repeated ask that of the request before it.
local function slot_before(held)
  if not held then
    local last = call('ZRANGE', queue_key(org, queue), 0, 0, 'REV', 'WITHSCORES')
    return tonumber(last[2] or 0)
  end
  local key = order_key(org, queue)
  call('ZADD', key, string.format('%.0f', held.arrived), op)
  local rank = call('ZRANK', key, op)
  local other = rank > 0 and call('ZRANGE', key, rank - 1, rank - 1)[1]
  call('ZREM', key, op)
  return other and tonumber(call('ZSCORE', queue_key(org, queue), other) or 0) or 0
end

-- The attempt that was sent before this ask and failed. The request gets a row even if its gateway dies.
local function tried_before(held)
  if held and held.state == 'dispatched' and ARGV[11] == '1' then return { held.draft, held.candidate } end
  return held and held.tried or nil
end

-- The window of the limit that refused, for the rate headers: used and reset. Concurrency has none.
local function add_window(answer)
  for _, candidate in ipairs(candidates) do
    for _, charge in ipairs(candidate.charges) do
      if charge.id == answer[4] and charge.period ~= 'none' then
        local used, reserved, reset = usage_of(charge.window, now)
        answer[6], answer[7] = used + reserved, reset
        return
      end
    end
  end
end

local function decide(held)
  local arrived = held and held.arrived or now
  local was_in_line = held and held.state == 'line'
  local before = slot_before(held)
  local tried = tried_before(held)
  local placements = {}
  for index, candidate in ipairs(candidates) do
    local placement = place(candidate, held, before)
    placements[index] = placement
    -- `preferred` takes the first that fits, so the others are not placed.
    if ARGV[6] ~= 'soonest' and not placement.blocked and placement.slot <= deadline then break end
  end
  local kind, chosen, slot, policy = choose(placements)
  if was_in_line then leave_line(op, held) end
  if kind ~= 'refused' and kind ~= 'now' and call('ZCARD', queue_key(org, queue)) >= tonumber(ARGV[5]) then
    kind, chosen = 'refused', refusal('queue_full', RETRY_UNKNOWN_MS, nil, RETRY_UNKNOWN_MS)
  end
  if kind == 'refused' then
    add_window(chosen)
    if was_in_line then forget(op, held) end
    if tried then keep_tried(op, held, tried, now + lease_ms) end
    return chosen
  end
  local charges = candidates[chosen].charges
  local lease = new_lease(chosen, slot, arrived, kind == 'later', tried)
  local answer
  if kind == 'line' then
    lease.state = 'line'
    call('ZADD', queue_key(org, queue), 0, op)
    for id in pairs(lease.concurrency) do
      call('ZADD', line_key(org, id), string.format('%.0f', arrived), op)
    end
    write_lease(op, lease)
    return { 'line', lease.candidate, policy }
  end
  lease.postings = post(charges, slot)
  if kind == 'later' then
    call('ZADD', queue_key(org, queue), string.format('%.0f', slot), op)
    call('ZADD', order_key(org, queue), string.format('%.0f', arrived), op)
    write_lease(op, lease)
    answer = { 'wait', lease.candidate, slot - now, placements[chosen].bound or '' }
  else
    answer = dispatch(lease, charges)
  end
  if was_in_line then wake_next(held) end
  return answer
end

-- Checks no limit: the operation is in flight.
local function restore(held)
  if held then return { 'restored' } end
  if #unknown > 1 then return unknown end
  local chosen = tonumber(ARGV[12]) + 1
  local lease = new_lease(chosen, now - tonumber(ARGV[13]), now, false)
  lease.postings = post(candidates[chosen].charges, lease.slot)
  dispatch(lease, candidates[chosen].charges)
  return { 'restored' }
end

-- How late after its slot a request may be dispatched: one bucket of the shortest window that it is charged to.
local function lateness_max(charges)
  local bound = NEVER_MS
  for _, charge in ipairs(charges) do bound = math.min(bound, BUCKET_MS[charge.period] or bound) end
  return bound
end

local function admit()
  local held = read_lease(op)
  if ARGV[11] == 'restore' then return restore(held) end
  if held and held.state == 'dispatched' and ARGV[11] == '' then
    return admitted(held, candidates[held.candidate + 1].charges)
  end
  if #unknown > 1 then return unknown end
  if not held then return decide(nil) end
  if held.state == 'dispatched' then
    local actual = { dispatched = ARGV[11] == '1', tokens = tonumber(ARGV[12]), spend = tonumber(ARGV[13]) }
    give_back(op, held, actual, now)
  elseif held.state == 'waiting' then
    local candidate = held.fingerprint == fingerprint() and candidates[held.candidate + 1]
    local in_time = candidate and now - held.slot <= lateness_max(candidate.charges)
    if in_time and cooldown_of(candidate.endpoint) <= max(now, held.slot) then
      if held.slot > now then return { 'wait', held.candidate, held.slot - now } end
      if not blocked_concurrency(candidate.charges, held.arrived) then
        held.expires = now + lease_ms
        leave_queue(op, held)
        return dispatch(held, candidate.charges)
      end
    end
    give_back(op, held, nil, now)
  end
  return decide(held)
end

local answer = admit()
write_windows(now)
if answer[1] ~= 'refused' and answer[1] ~= 'rebuild' then keep_time(now) end
return answer
