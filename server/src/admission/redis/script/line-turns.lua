-- Turns: those that wait at a place and fit go, in order.

-- Bounds of one look at a place: queues, waiters behind a blocked head, waiters in the order of the plan.
local QUEUES_MAX = 64
local BEHIND_HEAD_MAX = 4
local BY_SLOT_MAX = 8
-- The same, before one goes that is not the first in order.
local OUT_OF_ORDER_MAX = 64
-- What a lower class is owed for each request that goes ahead of it: one in nine, so that it has a tenth with some to spare.
local LOWER_CLASS_CREDIT = 1 / 8

-- Every dispatch ahead of a lower class adds to what that class is owed at this place.
local function owe(line, key, served_rank)
  local place = place_in(line, key)
  if not place then return end
  local credit = place.credit
  for rank = 1, 2 do
    if rank == served_rank then credit[rank] = max(0, credit[rank] - 1)
    elseif rank > served_rank and place.counts[rank] > 0 then credit[rank] = min(1, credit[rank] + LOWER_CLASS_CREDIT) end
  end
  place.dirty = true
end

local function note_service(line, waiter, index)
  local candidate, rank, share = waiter.candidates[index], waiter.rank, 0
  for position, w in ipairs(candidate.windows) do
    local cost = cost_of(waiter.costs[index], candidate.charges[position])
    -- A limit may be 0.
    if cost > 0 then share = max(share, cost / w.limit) end
    owe(line, w.key, rank)
  end
  local started = start_tag(line, rank, waiter.caller)
  local tag = waiter.queue and waiter.queue.tag or started
  if tag > line.virtual[rank] then line.virtual[rank], line.dirty = tag, true end
  note_served(line, rank, waiter.caller, max(started, tag) + share)
end

-- Charges a candidate now. A waiter leaves the line, and its reservation with it. `expires` nil: when its lease ends anyway.
local function dispatch_now(line, waiter, index, expires)
  local nexts, found = {}, waiter.candidates[index].windows
  -- The pace before its own reservation is taken out of the plan.
  for position, w in ipairs(found) do nexts[position] = pace_next(w) end
  dispatch(waiter, index, NOW, expires)
  for position, w in ipairs(found) do
    if is_paced(w) then note_release(w, nexts[position]) end
  end
  if line.size == 0 then return end
  note_service(line, waiter, index)
  if waiter.ticket then leave_line(line, waiter) end
end

-- A waiter goes.
local function let_go(line, waiter, index)
  local lease = lease_of(waiter.op)
  -- Its lease was lost: it goes out of the way, and its gateway asks again.
  if not lease then return leave_line(line, waiter) end
  waiter.draft, waiter.tried, waiter.attempt = lease.draft, lease.tried, lease.attempt
  dispatch_now(line, waiter, index, nil)
  local answer = add_windows({ 'admitted', index - 1, 0 }, line.org, waiter.candidates[index].charges)
  released(waiter.op, line.org, waiter.gateway, answer)
end

-- What a candidate of a waiter is charged, units aside.
local function window_charges(waiter, index)
  local candidate, costs, list = waiter.candidates[index], waiter.costs[index], {}
  for position, w in ipairs(candidate.windows) do
    if not w.held then
      list[#list + 1] = w
      list[#list + 1] = cost_of(costs, candidate.charges[position])
    end
  end
  return list
end

local function same_charges(a, on, b, other_on)
  local one, other = window_charges(a, on), window_charges(b, other_on)
  if #one ~= #other then return false end
  for at = 1, #one do
    if one[at] ~= other[at] then return false end
  end
  return true
end

-- Whether the reservation of one ahead comes in time for a waiter whose own is sooner.
local function suits(waiter, first)
  return waiter.on > 0 and first.on > 0
    and waiter.slot < first.slot
    and first.slot <= waiter.deadline - GUARD_MS
    and compare_waiters(first, waiter) <= 0
end

-- Reservations of the same charges are worth the same: the next in order takes the soonest from a waiter behind it whose deadline allows
-- the later one. So those ahead are not held back by promises that can wait. It looks at the first `count` of the plan.
local function exchange(line, waiter, count, except)
  if waiter.on == 0 then return end
  local window
  local candidate, costs = waiter.candidates[waiter.on], waiter.costs[waiter.on]
  for position, w in ipairs(candidate.windows) do
    -- A charge of 0 is in no plan.
    if not w.held and cost_of(costs, candidate.charges[position]) > 0 then
      window = w
      break
    end
  end
  if not window then return end
  local plan = call('ZRANGE', plan_key(line, window), 0, count - 1, 'WITHSCORES')
  local at, stop = 1, #plan
  while at < stop and tonumber(plan[at + 1]) < waiter.slot do
    local other = waiter_of(line, op_of(plan[at]))
    if other ~= except and suits(other, waiter) and same_charges(other, other.on, waiter, waiter.on) then
      swap_slots(line, waiter, other)
      -- What it has now may come in time for one that is sooner still.
      at, stop = 1, at - 1
    else
      at = at + 2
    end
  end
end

-- Whether each has the candidate of the other's reservation, with the same charges, and as good a promise there.
local function candidates_match(line, waiter, first)
  if waiter.queue.only > 0 or first.queue.only > 0 then return false end
  local later = waiter.candidates[first.on]
  if not later or not first.candidates[waiter.on] then return false end
  for _, w in ipairs(later.windows) do
    if w.held then return false end
  end
  return cooldown_of(line.org, later.endpoint) <= first.slot
    and same_charges(first, waiter.on, waiter, waiter.on)
    and same_charges(waiter, first.on, first, first.on)
end

-- Of those ahead whose queues could not go, the first that can go in its place. Returns it and its candidate.
local function first_for(line, blocked, waiter, index)
  local ahead = {}
  for _, queue in ipairs(blocked) do
    local head = queue.length > 0 and head_of(line, queue)
    if head and compare_waiters(head, waiter) < 0 then ahead[#ahead + 1] = head end
  end
  table.sort(ahead, function(a, b) return compare_waiters(a, b) < 0 end)
  for _, first in ipairs(ahead) do
    local slot = first.slot
    if slot > waiter.deadline - GUARD_MS then exchange(line, first, OUT_OF_ORDER_MAX, waiter) end
    local own = first.slot < slot and candidate_now(line, first, true, false) or 0
    if own > 0 then return first, own end
    local same = suits(waiter, first) and same_charges(waiter, waiter.on, first, first.on)
    if same or suits(waiter, first) and candidates_match(line, waiter, first) then
      swap_slots(line, first, waiter, not same)
      local candidate = candidate_now(line, first, true, false)
      if candidate > 0 then return first, candidate end
      swap_slots(line, first, waiter, not same)
    end
  end
  return waiter, index
end

-- The first of a queue that fits: the head, or a smaller one behind it. Returns it and its candidate.
local function pick(line, queue, key)
  local members = call('ZRANGE', queue_key(line, queue), 0, queue.sizes and BEHIND_HEAD_MAX - 1 or 0)
  local least = nil
  if queue.sizes then members[#members + 1] = call('ZRANGE', size_key(line, queue), 0, 0)[1] end
  for _, member in ipairs(members) do
    local waiter = waiter_of(line, op_of(member))
    if not least or waiter.size < least then
      least = waiter.size
      exchange(line, waiter, BY_SLOT_MAX)
      local index = candidate_now(line, waiter, true, false)
      if index > 0 then return waiter, index end
      cast_shadow(line, waiter, key)
    end
  end
  return nil
end

-- The queues of a class at a place, in order. The list is read again when it has changed.
local function list_of(line, place, rank, length)
  place.lists = place.lists or {}
  local list = place.lists[rank]
  if not list or #list < length and #list < place.counts[rank] then
    list = call('ZRANGE', queues_key(line, place, rank), 0, length + 7)
    place.lists[rank] = list
  end
  return list
end

local function next_in_class(line, place, rank, seen)
  if place.counts[rank] == 0 then return nil end
  local at = 1
  while at <= place.counts[rank] do
    local list = list_of(line, place, rank, at)
    local member = list[at]
    if not member then return nil end
    local id = sub(member, -QUEUE_BYTES)
    if not seen[id] then return queue_of(line, id) end
    at = at + 1
  end
  return nil
end

-- By class, then by what the caller was served, then by arrival; a lower class that is owed its share comes first.
local function next_queue(line, place, seen)
  for rank = 2, 1, -1 do
    if place.credit[rank] >= 1 then
      local queue = next_in_class(line, place, rank, seen)
      if queue then return queue end
    end
  end
  return next_in_class(line, place, 0, seen)
    or next_in_class(line, place, 1, seen)
    or next_in_class(line, place, 2, seen)
end

-- No waiter here can go: nothing is left of the window, or all are paced and it is not time.
local function shuts_all(place)
  local w = place.window
  if not w or w.held or QUANTITY[w.metric] ~= 'requests' then return false end
  if w.total + 1 > w.limit then return true end
  return place.unpaced == 0 and pace_next(w) > NOW
end

local function first_of_plan(line, w)
  local found, candidate
  for _, member in ipairs(call('ZRANGE', plan_key(line, w), 0, BY_SLOT_MAX - 1)) do
    local waiter = waiter_of(line, op_of(member))
    if not found or compare_waiters(found, waiter) > 0 then
      local index = candidate_now(line, waiter, true, false)
      if index > 0 then found, candidate = waiter, index end
    end
  end
  return found, candidate
end

local function serve(line, key)
  local seen, blocked, serving = {}, {}, false
  for _ = 1, QUEUES_MAX do
    local place = place_in(line, key)
    local queue = place and next_queue(line, place, seen)
    if not queue then break end
    -- Its caller was served from another of its queues since this one got its tag.
    if served_tag(line, queue.rank, queue.caller) > queue.tag then
      reorder(line, queue, start_tag(line, queue.rank, queue.caller))
    else
      local waiter, index = pick(line, queue, key)
      serving = waiter ~= nil
      if waiter then
        let_go(line, first_for(line, blocked, waiter, index))
      else
        seen[queue.id] = true
        blocked[#blocked + 1] = queue
        park(line, queue)
        if shuts_all(place) then return end
      end
    end
  end
  -- The bound was reached while they still fit: the next look continues in order.
  if serving then return end
  -- The head may be held back by promises ahead; those who hold them may then go early, soonest first.
  local w = line.windows[key]
  if not w or w.held then return end
  for _ = 1, BY_SLOT_MAX do
    local waiter, index = first_of_plan(line, w)
    if not waiter then return end
    let_go(line, first_for(line, blocked, waiter, index))
  end
end
