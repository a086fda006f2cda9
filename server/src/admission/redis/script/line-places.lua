-- Places: those whose way is blocked by the same window, units of concurrency, or cooldown. A queue is parked where its head is blocked,
-- once for each candidate.

-- While only promises or several limits together stand in the way, the line looks again after this time.
local LOOK_AGAIN_MS = 50
local SOON_MS = 1

local function set_at(line, place, at)
  if place.at == at then return end
  place.at, place.dirty = at, true
  call('ZADD', line.base .. 'wake', number_text(at), place.key)
end

-- The place, or nil when no queue is parked there.
local function place_in(line, key)
  local place = line.places[key]
  if place ~= nil then return place or nil end
  local text = line.stored and call('HGET', line.base .. 'places', key)
  if not text then
    line.places[key] = false
    return nil
  end
  local r = unpack_value(text)
  place = { key = key, counts = { [0] = r[1], r[2], r[3] }, credit = { [0] = 0, r[4], r[5] } }
  place.shadow, place.shadow_ticket, place.shadow_at, place.unpaced, place.at = r[6], r[7], r[8], r[9], r[10]
  if r[11] ~= '' then place.window = window_in(line, r[11], r[12], r[13]) end
  line.places[key] = place
  return place
end

local function queues_key(line, place, rank) return line.base .. 'place:' .. place.key .. ':' .. rank end
local function least_key(line, place) return line.base .. 'least:' .. place.key end

-- `line.windows` has the window of every key that is not a cooldown's. A new place is empty, whatever a script left there that was cut short.
local function place_for(line, key)
  local place = place_in(line, key)
  if place then return place end
  place = { key = key, counts = { [0] = 0, 0, 0 }, credit = { [0] = 0, 0, 0 }, window = line.windows[key] }
  place.shadow, place.shadow_ticket, place.shadow_at, place.unpaced, place.at = '', 0, 0, 0, NEVER_MS
  line.places[key], line.n_places = place, line.n_places + 1
  call('DEL', queues_key(line, place, 0), queues_key(line, place, 1), queues_key(line, place, 2), least_key(line, place))
  return place
end

local function pack_place(place)
  local counts, credit, w = place.counts, place.credit, place.window
  return pack({
    counts[0], counts[1], counts[2], credit[1], credit[2], place.shadow, place.shadow_ticket, place.shadow_at,
    place.unpaced, place.at, w and w.id or '', w and w.metric or '', w and w.period or '',
  })
end

local function has_queues(place)
  local counts = place.counts
  return counts[0] > 0 or counts[1] > 0 or counts[2] > 0
end

-- The first and the last candidate that the waiters of a queue may go to.
local function open_candidates(queue)
  if queue.only > 0 then return queue.only, queue.only end
  return 1, #queue.candidates
end

local function touch_place(line, key)
  if place_in(line, key) then line.touched[key] = true end
end

-- Whether the queues of a place differ in what they cost there.
local function counts_costs(place)
  local w = place.window
  return w and not w.held and QUANTITY[w.metric] ~= 'requests'
end

-- What the head or the smallest of a queue is charged at a place, whichever is less.
local function least_cost(line, queue, place)
  local least = NEVER_MS
  local head, smallest = head_of(line, queue), smallest_of(line, queue)
  local first, last = open_candidates(queue)
  for index = first, last do
    local candidate = queue.candidates[index]
    for position, w in ipairs(candidate.windows) do
      if w == place.window then
        local charge = candidate.charges[position]
        least = min(least, cost_of(head.costs[index], charge), cost_of(smallest.costs[index], charge))
      end
    end
  end
  return least
end

-- Every candidate that is charged at the place is paced.
local function is_paced_at(queue, place)
  local window = place.window
  if not window or window.held then return true end
  local first, last = open_candidates(queue)
  for index = first, last do
    local candidate = queue.candidates[index]
    if not candidate.paced then
      for _, w in ipairs(candidate.windows) do
        if w == window then return false end
      end
    end
  end
  return true
end

local function drop_place(line, place)
  line.places[place.key], line.n_places = false, line.n_places - 1
  line.dropped[place.key] = true
  call('ZREM', line.base .. 'wake', place.key)
end

-- When the pace and what was dispatched allow a waiter to go from here. Past that moment only promises and other limits stand in the way.
local function opens_at(line, place)
  local w = place.window
  if not w then return cooldown_of(line.org, sub(place.key, #'cooldown:' + 1)) end
  if w.held then return units_full(w) and NEVER_MS or NOW end
  local least = 1
  if counts_costs(place) then
    least = tonumber(call('ZRANGE', least_key(line, place), 0, 0, 'WITHSCORES')[2] or NEVER_MS)
  end
  local at = least < NEVER_MS and past_room_ms(w, least) or NEVER_MS
  return place.unpaced == 0 and max(at, ceil(pace_next(w))) or at
end

-- When the line looks at a place again if nothing else happens.
local function next_of(line, place)
  local at, w = opens_at(line, place), place.window
  if not w or w.held then return max(at, NOW + SOON_MS) end
  return at > NOW and at or NOW + LOOK_AGAIN_MS
end

local function hasten(line, place)
  set_at(line, place, min(place.at, next_of(line, place)))
end

-- Who has its earliest moment kept free here; nil when it no longer waits.
local function shadow_owner(line, place)
  local owner = place.shadow ~= '' and waiter_of(line, place.shadow)
  return owner and owner.ticket == place.shadow_ticket and owner or nil
end

-- After a look at everybody here.
local function settle_place(line, key)
  local place = place_in(line, key)
  if not place then return end
  if not shadow_owner(line, place) then place.shadow = '' end
  place.dirty = true
  set_at(line, place, next_of(line, place))
end

-- The first queue of a place in order, as class, tag and sequence of its head.
local function best_of(line, place)
  for rank = 0, 2 do
    if place.counts[rank] > 0 then
      local found = call('ZRANGE', queues_key(line, place, rank), 0, 0, 'WITHSCORES')
      return rank, tonumber(found[2]), tonumber(sub(found[1], 1, SEQUENCE_BYTES))
    end
  end
end

-- The places that something has happened to, best first.
local function take_touched(line)
  local list = {}
  for key in pairs(line.touched) do
    local place = place_in(line, key)
    if place then
      local rank, tag, sequence = best_of(line, place)
      list[#list + 1] = { key = key, rank = rank, tag = tag, sequence = sequence }
    end
  end
  line.touched = {}
  table.sort(list, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    if a.tag ~= b.tag then return a.tag < b.tag end
    if a.sequence ~= b.sequence then return a.sequence < b.sequence end
    return bytes_before(a.key, b.key)
  end)
  return list
end
