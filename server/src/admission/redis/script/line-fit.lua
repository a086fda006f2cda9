-- Whether a waiter may go now, and what is in its way. A waiter is an ask with a place in line: op, org, sequence, rank, queue,
-- candidates, costs, deadline, wait_max, mixed, gateway; slot and on: its reservation and the candidate (from one) that it is for,
-- -1 and 0 without one.

local function cooldown_place(candidate) return 'cooldown:' .. candidate.endpoint end

-- A limit that is smaller than the request alone.
local function exceeded_by(waiter, index)
  local candidate, units = waiter.candidates[index], nil
  for position, w in ipairs(candidate.windows) do
    if w.held then units = units or w.limit < 1 and w or nil
    elseif cost_of(waiter.costs[index], candidate.charges[position]) > w.limit then return w end
  end
  return units
end

-- What the waiter has reserved in this window.
local function own_cost(waiter, w)
  local on = waiter.on
  if on == 0 then return 0 end
  for index, each in ipairs(waiter.candidates[on].windows) do
    if each == w then return cost_of(waiter.costs[on], waiter.candidates[on].charges[index]) end
  end
  return 0
end

-- The first in order that is too large for now, as it concerns those behind it that take less: its earliest place, the place of its
-- reservation, and its cost. Nil for others, and where everybody is of one size.
local function shadow_for(line, waiter, w, smaller)
  if smaller == 0 or QUANTITY[w.metric] == 'requests' then return nil end
  local place = place_in(line, w.key)
  local first = place and shadow_owner(line, place)
  if not first or first == waiter or compare_waiters(first, waiter) > 0 then return nil end
  local on = max(1, first.on)
  local cost = 0
  for index, each in ipairs(first.candidates[on].windows) do
    if each == w then cost = cost_of(first.costs[on], first.candidates[on].charges[index]) end
  end
  if cost <= smaller then return nil end
  return place_of(w, place.shadow_at), first.slot >= 0 and place_of(w, first.slot) or NEVER_MS, cost
end

-- Would moving the waiter's reservation to this moment break a run? Runs that contain both moments hold what they held. Returns the
-- end of the last run that would, or of `any`.
local function full_until(line, waiter, w, cost, at, due, any)
  local limit = w.limit
  local own = own_cost(waiter, w)
  local slot = own > 0 and place_of(w, waiter.slot) or NEVER_MS
  local place = place_of(w, at)
  local shadow_place, shadow_slot, shadow_cost
  if not due then shadow_place, shadow_slot, shadow_cost = shadow_for(line, waiter, w, cost) end
  if at == NOW then
    -- What was dispatched must leave room whatever the plan says: a limit may have been lowered since.
    if w.total + cost > limit then return place end
    -- A charge of 0 delays no other request.
    if cost == 0 then return nil end
    if not shadow_place and w.total + w.reserved - own + cost <= limit then return nil end
  end
  if w.sliding and not shadow_place and surely_fits(w, place, cost, NO_HEADROOM) then return nil end
  local span, sum, last = w.span, 0, nil
  local used
  if w.sliding then used = load_used(w, place - span + 1, place + span - 1)
  else
    load_plan(w, place, place)
    used = { [place] = (past_of(w)[place] or 0) + (w.plan[place] or 0) }
  end
  for index = place - span + 1, place - 1 do sum = sum + used[index] end
  for stop = place, place + span - 1 do
    sum = sum + used[stop]
    local holds_own = stop >= slot
    if holds_own and cost <= own and not shadow_place then break end
    local total = sum + cost - (holds_own and own or 0)
    if shadow_place and stop >= shadow_place and stop < shadow_slot then total = total + shadow_cost end
    if total > limit then
      last = stop
      if any then break end
    end
    sum = sum - used[stop - span + 1]
  end
  return last
end

-- What keeps the waiter from going now with this candidate: the key of a place and the policy, which a cooldown has not. Nil: nothing.
local function blocked_by(line, waiter, index, paced, due)
  local candidate, costs = waiter.candidates[index], waiter.costs[index]
  if cooldown_of(line.org, candidate.endpoint) > NOW then return cooldown_place(candidate), nil end
  local found, charges = candidate.windows, candidate.charges
  -- What has no time comes first: a waiter that is blocked there is woken by a unit, and by nothing else.
  for _, w in ipairs(found) do
    if units_full(w) then return w.key, w.id end
  end
  -- Then what one number tells, and last what takes a look at the plan.
  for at, w in ipairs(found) do
    if not w.held then
      if w.total + cost_of(costs, charges[at]) > w.limit then return w.key, w.id end
      if paced and candidate.paced and pace_next(w) > NOW then return w.key, w.id end
    end
  end
  for at, w in ipairs(found) do
    if not w.held and full_until(line, waiter, w, cost_of(costs, charges[at]), NOW, due, true) then return w.key, w.id end
  end
  return nil
end

-- Whether the waiter's process can be told. Without a subscriber it is gone, and its waiters are passed over.
local GATEWAY = ARGV[2]
local reached = {}
local function reaches(gateway)
  if gateway == GATEWAY then return true end
  local known = reached[gateway]
  if known == nil then
    local channel = PREFIX .. 'wake:' .. gateway
    known = call('PUBSUB', 'SHARDNUMSUB', channel)[2] > 0
    reached[gateway] = known
  end
  return known
end

-- The first candidate that can take the waiter now; 0 when there is none.
local function candidate_now(line, waiter, paced, due)
  if not reaches(waiter.gateway) then return 0 end
  local first, last = open_candidates(waiter.queue)
  for index = first, last do
    if not blocked_by(line, waiter, index, paced, due) then return index end
  end
  return 0
end

local MOVE_TURNS_MAX = 32

-- When the waiter could go if no other moved.
local function earliest_move(line, waiter)
  local best = NEVER_MS
  if not reaches(waiter.gateway) then return best end
  local first, last_open = open_candidates(waiter.queue)
  for index = first, last_open do
    local candidate = waiter.candidates[index]
    local at = max(NOW, cooldown_of(line.org, candidate.endpoint))
    -- A unit has no time: the request that gives it back wakes the next.
    local never = exceeded_by(waiter, index)
    for _, w in ipairs(candidate.windows) do never = never or units_full(w) end
    if never then at = NEVER_MS end
    for _ = 1, never and 0 or MOVE_TURNS_MAX do
      local before = at
      for position, w in ipairs(candidate.windows) do
        local cost = cost_of(waiter.costs[index], candidate.charges[position])
        local last = not w.held and full_until(line, waiter, w, cost, at, false, false)
        if last then at = start_after(w, last) end
      end
      if at == before then break end
    end
    best = min(best, at)
  end
  return best
end

-- Keeps the earliest moment of a waiter free that is too large for now, unless one ahead of it has it kept.
local function cast_shadow(line, waiter, key)
  local place = place_in(line, key)
  if not place or not counts_costs(place) then return end
  local held = shadow_owner(line, place)
  if held and held ~= waiter and compare_waiters(held, waiter) < 0 then return end
  place.shadow, place.dirty = '', true
  local at = earliest_move(line, waiter)
  if at < NEVER_MS then place.shadow, place.shadow_ticket, place.shadow_at = waiter.op, waiter.ticket, at end
end
