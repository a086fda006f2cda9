-- Why a request is refused, and when the same request, sent alone, is accepted: when the line, served in turn, leaves room for one more
-- like this. Behind a concurrency limit it is unknown.
local RETRY_UNKNOWN_MS = 1000
local ROOM_TURNS_MAX = 16

-- Everybody waits for this one window and takes the same from it, so the line is served as fast as it allows.
local function is_one_line(line, w)
  return QUANTITY[w.metric] == 'requests' and line.size > 0 and line.n_places == 1 and place_in(line, w.key)
end

-- What a class leaves to others counts beside requests of its own that wait; without any it may always promise one.
local function left_to_others(line, w, room)
  if line.size == 0 then return NO_HEADROOM end
  local place = line.n_places == 1 and place_in(line, w.key)
  return place and place.counts[room.rank] == 0 and NO_HEADROOM or room
end

-- The moment, and the window that moved it furthest; nil for a cooldown or no delay.
local function room_at(line, waiter, index)
  local candidate, costs = waiter.candidates[index], waiter.costs[index]
  local room = waiter.wait_max > 0 and headroom_of(waiter) or NO_HEADROOM
  local cool = max(NOW, cooldown_of(line.org, candidate.endpoint))
  local at, bound = cool, nil
  for position, w in ipairs(candidate.windows) do
    if not w.held then
      local cost = cost_of(costs, candidate.charges[position])
      local after = is_one_line(line, w) and after_line or after_promises
      local later = after(line, w, cost, left_to_others(line, w, room_for(cost, room)), cool)
      if later > at then at, bound = later, w end
    end
  end
  -- Nor before the plan as it stands has a place for it, with what its class leaves to others by then.
  local lead = waiter.wait_max - guard_ms(waiter)
  for _ = 1, ROOM_TURNS_MAX do
    if at >= NEVER_MS then break end
    local before = at
    for position, w in ipairs(candidate.windows) do
      if not w.held then
        local cost = cost_of(costs, candidate.charges[position])
        local later = earliest_fit(w, at, cost, room_for(cost, room), lead)
        if later > at then at, bound = later, w end
      end
    end
    if at == before then break end
  end
  return at, bound
end

-- { 'refused', reason, retry after, policy or '', reset, key of the window that refuses or nil }
local function refuse(line, waiter)
  local best, best_at, best_bound
  for index = 1, #waiter.candidates do
    if not exceeded_by(waiter, index) then
      local at, bound = room_at(line, waiter, index)
      if not best or at < best_at then best, best_at, best_bound = index, at, bound end
    end
  end
  if not best then
    local w = exceeded_by(waiter, 1)
    return { 'refused', 'exceeds_limit', 0, w and w.id or '', 0, w and w.key }
  end
  local retry_after = max(1, ceil(best_at + guard_ms(waiter) - waiter.deadline))
  local reset = max(0, ceil(best_at - NOW))
  for _, w in ipairs(waiter.candidates[best].windows) do
    if units_full(w) then
      return { 'refused', 'wait_budget', max(RETRY_UNKNOWN_MS, retry_after), w.id, max(RETRY_UNKNOWN_MS, reset) }
    end
  end
  return { 'refused', 'wait_budget', retry_after, best_bound and best_bound.id or '', reset, best_bound and best_bound.key }
end
