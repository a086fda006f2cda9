-- Queues: requests of one caller in one lane under the same limits, first come first served. A queue is parked where its head is blocked.

local function queue_key(line, queue) return line.base .. 'queue:' .. queue.id end
local function size_key(line, queue) return line.base .. 'size:' .. queue.id end

-- Where nothing blocks it, only the order of the line does: it waits at its first limit.
local function first_place(candidate)
  for _, w in ipairs(candidate.windows) do
    if not w.held then return w.key end
  end
  return candidate.windows[1] and candidate.windows[1].key or cooldown_place(candidate)
end

-- Before the head or the tag of a queue changes: its position depends on them.
local function unpark(line, queue)
  for _, key in ipairs(queue.places) do
    local place, rank = place_in(line, key), queue.rank
    call('ZREM', queues_key(line, place, rank), queue.parked)
    if counts_costs(place) then call('ZREM', least_key(line, place), queue.id) end
    if not is_paced_at(queue, place) then place.unpaced = place.unpaced - 1 end
    place.counts[rank] = place.counts[rank] - 1
    place.lists = nil
    place.dirty = true
    if place.counts[rank] == 0 then place.credit[rank] = 0 end
    if not has_queues(place) then drop_place(line, place) end
  end
  queue.places, queue.parked, queue.dirty = {}, '', true
end

local function move_to(line, queue, head, keys)
  unpark(line, queue)
  queue.parked = head.member .. queue.id
  queue.places, queue.dirty = keys, true
  for _, key in ipairs(keys) do
    local place, rank = place_for(line, key), queue.rank
    call('ZADD', queues_key(line, place, rank), number_text(queue.tag), queue.parked)
    place.counts[rank] = place.counts[rank] + 1
    place.lists = nil
    place.dirty = true
    if counts_costs(place) then
      call('ZADD', least_key(line, place), number_text(least_cost(line, queue, place)), queue.id)
    end
    if not is_paced_at(queue, place) then place.unpaced = place.unpaced + 1 end
    hasten(line, place)
  end
end

-- Puts a queue where its head is blocked, once for each candidate. A head that may go is looked at in the next step.
local function park(line, queue)
  local head = head_of(line, queue)
  if not head then return end
  local keys, free = {}, {}
  local first, last = open_candidates(queue)
  for index = first, last do
    local blocked = blocked_by(line, head, index, true, false)
    local key = blocked or first_place(head.candidates[index])
    if free[key] == nil then keys[#keys + 1] = key end
    free[key] = free[key] or not blocked
  end
  local same = #keys == #queue.places
  for _, key in ipairs(queue.places) do same = same and free[key] ~= nil end
  if not same then move_to(line, queue, head, keys) end
  for _, key in ipairs(queue.places) do
    if free[key] then
      line.touched[key] = true
      set_at(line, place_in(line, key), NOW)
    end
  end
end

-- Gives a queue another tag where it stands.
local function reorder(line, queue, tag)
  queue.tag, queue.dirty = tag, true
  for _, key in ipairs(queue.places) do
    local place = place_in(line, key)
    call('ZADD', queues_key(line, place, queue.rank), number_text(tag), queue.parked)
    place.lists = nil
  end
end

-- After a waiter behind the head came or left: the smallest of the queue may be another.
local function update_costs(line, queue)
  if not queue.sizes then return end
  for _, key in ipairs(queue.places) do
    local place = place_in(line, key)
    if counts_costs(place) then
      local cost = least_cost(line, queue, place)
      if cost ~= tonumber(call('ZSCORE', least_key(line, place), queue.id)) then
        call('ZADD', least_key(line, place), number_text(cost), queue.id)
        hasten(line, place)
      end
    end
  end
end

-- A queue with another head stands where that one is blocked, with the tag that its caller has by now.
local function retag(line, queue)
  unpark(line, queue)
  queue.tag = start_tag(line, queue.rank, queue.caller)
  park(line, queue)
end

local function enter_queue(line, waiter, only)
  local queue = queue_for(line, waiter, only)
  local head = queue.length > 0 and head_of(line, queue)
  local leads = not head or head.sequence > waiter.sequence
  if leads then unpark(line, queue) end
  call('ZADD', queue_key(line, queue), 0, waiter.member)
  if queue.sizes then call('ZADD', size_key(line, queue), number_text(waiter.size), waiter.member) end
  queue.length, queue.head, queue.dirty = queue.length + 1, nil, true
  waiter.queue, waiter.dirty = queue, true
  if leads then retag(line, queue) else update_costs(line, queue) end
end

local function leave_queue(line, waiter)
  local queue = waiter.queue
  local leads = call('ZRANGE', queue_key(line, queue), 0, 0)[1] == waiter.member
  if leads then unpark(line, queue) end
  call('ZREM', queue_key(line, queue), waiter.member)
  if queue.sizes then call('ZREM', size_key(line, queue), waiter.member) end
  queue.length, queue.head, queue.dirty = queue.length - 1, nil, true
  waiter.queue = nil
  if not leads then return update_costs(line, queue) end
  if queue.length > 0 then retag(line, queue) end
end

-- Its promise is lost: it keeps its turn and may go to any candidate, until its deadline.
local function lose_only(line, waiter)
  if waiter.queue.only == 0 then return end
  local tag = waiter.queue.tag
  leave_queue(line, waiter)
  enter_queue(line, waiter, 0)
  local queue = waiter.queue
  -- As one that just came, it would be behind later requests of its caller.
  if tag < queue.tag and head_of(line, queue) == waiter then reorder(line, queue, tag) end
end

-- Lets a waiter into the line. Slot -1: without a promise.
local function join(line, waiter, only, on, slot)
  local found, gated = slot >= 0 and waiter.candidates[on].windows or {}, {}
  for _, w in ipairs(found) do gated[w] = pace_next(w) > NOW end
  line.size, line.tickets, line.dirty = line.size + 1, line.tickets + 1, true
  waiter.ticket, waiter.member = line.tickets, member_of(waiter)
  line.waiters[waiter.op] = waiter
  count(line, 'queue:' .. waiter.name, 1)
  count_units(line, waiter, 1)
  if slot >= 0 then reserve_for(line, waiter, on, slot) else wait_late(line, waiter) end
  enter_queue(line, waiter, only)
  for _, key in ipairs(waiter.queue.places) do hasten(line, place_in(line, key)) end
  -- A larger crowd quickens the pace, also for those who wait elsewhere.
  for _, w in ipairs(found) do
    local place = not w.held and place_in(line, w.key)
    if place then
      hasten(line, place)
      -- So quick that a waiter may go immediately.
      if gated[w] and pace_next(w) <= NOW then set_at(line, place, NOW) end
    end
  end
end

-- Takes a waiter out of the line: it goes, has left, or its deadline has come.
local function leave_line(line, waiter)
  unreserve(line, waiter)
  line.size, line.dirty = line.size - 1, true
  if waiter.late then call('ZREM', line.base .. 'late', waiter.member) end
  count(line, 'queue:' .. waiter.name, -1)
  count_units(line, waiter, -1)
  -- A waiter that comes to the head of its queue no longer sees it.
  line.waiters[waiter.op], line.gone[waiter.op] = false, true
  leave_queue(line, waiter)
  if line.size == 0 then end_line(line) end
end
