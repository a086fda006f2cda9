-- Promises: one reservation for everybody who waits, as late as its deadline allows, in every window of a candidate together. It proves
-- that the waiter can be served in time and leaves the near future to the next in order.

-- Reservations keep this distance from the deadline, or a tenth of the budget: for a timer, a message, a gateway that takes over.
local GUARD_MS = 200
local PLACE_TURNS_MAX = 256

local function guard_ms(waiter) return min(GUARD_MS, floor(waiter.wait_max / 10)) end

local function headroom_of(waiter) return waiter.mixed and HEADROOM[waiter.rank] or NO_HEADROOM end

-- How long one more of this class would wait for a unit, from how long units were held. It goes before those of lower classes.
local function expected_ms(line, w, rank)
  local ahead = 0
  for higher = 0, rank do ahead = ahead + counted(line, units_name(w, higher)) end
  return ((ahead + 1) / w.limit) * mean_ms(w)
end

local function latest_moment(waiter, index, from, until_ms, even)
  local candidate, costs, room = waiter.candidates[index], waiter.costs[index], headroom_of(waiter)
  local at = until_ms
  for _ = 1, PLACE_TURNS_MAX do
    if at < from then return -1 end
    local before = at
    for position, w in ipairs(candidate.windows) do
      if not w.held then
        local cost = cost_of(costs, candidate.charges[position])
        if even then at = latest_even(w, at, cost, room_for(cost, room)) end
        if at >= from then at = latest_fit(w, at, from, cost, room_for(cost, room)) end
        if at < from then break end
      end
    end
    if at == before then
      -- At the start of the shortest bucket: a timer that comes late is still in it.
      local start = from
      for _, w in ipairs(candidate.windows) do
        if not w.held then start = max(start, start_of(w, place_of(w, at))) end
      end
      return start
    end
  end
  return -1
end


-- Where the plan can hold the waiter at this candidate in time, and whether that is firm; nil when it cannot. -1: it may wait, but
-- only units can tell how long.
local function promise_at(line, waiter, index)
  local candidate = waiter.candidates[index]
  local from = max(NOW, cooldown_of(line.org, candidate.endpoint))
  local until_ms = waiter.deadline - guard_ms(waiter)
  if waiter.wait_max <= 0 or from > until_ms or exceeded_by(waiter, index) then return nil end
  local firm, charged, full = true, false, nil
  for _, w in ipairs(candidate.windows) do
    if w.held then
      firm = false
      full = full or units_full(w) and w or nil
    else
      charged = true
    end
  end
  -- It is unknown when a unit is free: a place in line if those ahead are likely to be served in time.
  if full and expected_ms(line, full, waiter.rank) > waiter.wait_max then return nil end
  if not charged then return firm and from or -1, firm end
  -- Evenly filled if that can be: even plans leave no odd gaps.
  local slot = latest_moment(waiter, index, from, until_ms, true)
  if slot < 0 then slot = latest_moment(waiter, index, from, until_ms, false) end
  if slot < 0 then return nil end
  return slot, firm
end

-- The plan -------------------------------------------------------------------------------------------------------------

local function plan_key(line, w) return line.base .. 'plan:' .. w.key end

-- Adds what the waiter has reserved to the plan, or (-1) takes it out.
local function change_plan(line, waiter, sign)
  local candidate, costs = waiter.candidates[waiter.on], waiter.costs[waiter.on]
  for position, w in ipairs(candidate.windows) do
    local cost = w.held and 0 or cost_of(costs, candidate.charges[position])
    -- A charge of nothing holds nothing.
    if cost > 0 then
      -- The first of a plan, which is empty as a new place is.
      if sign > 0 and w.reserved <= 0 then call('DEL', plan_key(line, w), planned_key(w)) end
      plan_at(w, waiter.slot, sign * cost, waiter.rank)
      if sign > 0 then call('ZADD', plan_key(line, w), number_text(waiter.slot), waiter.member)
      else call('ZREM', plan_key(line, w), waiter.member) end
    end
  end
end

local function reserve_for(line, waiter, on, slot)
  if waiter.late then
    waiter.late = false
    call('ZREM', line.base .. 'late', waiter.member)
  end
  waiter.slot, waiter.on, waiter.dirty = slot, on, true
  call('ZADD', line.base .. 'due', number_text(slot), waiter.member)
  change_plan(line, waiter, 1)
end

local function take_out(line, waiter)
  call('ZREM', line.base .. 'due', waiter.member)
  change_plan(line, waiter, -1)
  waiter.slot, waiter.on, waiter.dirty = -1, 0, true
end

-- Gives a reservation back; those who wait for what it held are looked at in the next step.
local function unreserve(line, waiter)
  if waiter.slot < 0 then return end
  for _, w in ipairs(waiter.candidates[waiter.on].windows) do
    if not w.held then touch_place(line, w.key) end
  end
  take_out(line, waiter)
end

-- Two waiters with the same charges change places in the plan, or also candidates; the sums stay as they are.
local function swap_slots(line, one, other, with_candidates)
  local slot, on, other_slot, other_on = one.slot, one.on, other.slot, other.on
  take_out(line, one)
  take_out(line, other)
  reserve_for(line, one, with_candidates and other_on or on, other_slot)
  reserve_for(line, other, with_candidates and on or other_on, slot)
end

-- Without a promise it keeps its turn until its deadline.
local function wait_late(line, waiter)
  waiter.late, waiter.dirty = true, true
  call('ZADD', line.base .. 'late', number_text(waiter.deadline), waiter.member)
end
