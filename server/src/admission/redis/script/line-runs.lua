-- What windows say about moments to come: the past (dispatched) and the plan (one reservation for everybody who waits)
-- together. Every run of `span` buckets stays within the limit. The rules are those of ../../memory, in the same order of
-- operations, so that both engines round alike.
-- How much of the future part of a run the promises of a class leave to others, and what it may promise in any case.
local HEADROOM = {
  [0] = { free = 0.15, floor = 0.85, rank = 0, runs = 'run0', cells = 'cell0' },
  [1] = { free = 0.25, floor = 0.1, rank = 1, runs = 'run1', cells = 'cell1' },
  [2] = { free = 0.5, floor = 0.1, rank = 2, runs = 'run2', cells = 'cell2' },
}
local NO_HEADROOM = { free = 0, floor = 1, rank = 0, runs = 'run', cells = 'cell' }

-- A priority class leaves headroom to others; a charge of 0 needs none.
local function room_for(cost, room) return cost > 0 and room or NO_HEADROOM end

-- Each turn of a search passes at least one bucket that is full.
local TURNS_MAX = 4096

-- The start of the place after this one.
local function start_after(w, place)
  if w.sliding then return (place + 1) * w.bucket_ms end
  return next_window(w.period, place) + SHIFT
end

-- Past and plan together leave room: no run can be too full.
local function has_room(w, cost, room)
  return w.total + w.reserved + cost <= w.limit * (1 - room.free)
end

-- Sums of chunks tell that every run that contains the place has room, without a look at places.
local function surely_fits(w, place, cost, room)
  open_plan(w)
  local span = w.span
  -- A run touches at most so many chunks.
  local touched = floor((span - 2) / CHUNK) + 2
  local most = w.limit * (1 - room.free) - cost - (place - span < w.place and w.total or 0)
  local sum, first = 0, floor((place - span + 1) / CHUNK)
  for chunk = first, floor((place + span - 1) / CHUNK) do
    sum = sum + sum_of(w, chunk) - (chunk - touched >= first and sum_of(w, chunk - touched) or 0)
    if sum > most then return false end
  end
  return true
end

-- With what a class leaves to others in the part of a run that lies in the future, as seen from a place.
local function too_full_of_class(w, place, cost, room, now_place)
  local limit, free, span = w.limit, room.free, w.span
  local used, mine = w.used, w.classes[room.rank]
  local sum, ours, first, last = 0, 0, nil, nil
  for index = place - span + 1, place - 1 do
    sum = sum + used[index]
    ours = ours + (mine[index] or 0)
  end
  for stop = place, place + span - 1 do
    sum = sum + used[stop]
    ours = ours + (mine[stop] or 0)
    local full = sum + cost > limit
    if not full then
      local future = min(1, (stop - now_place) / span)
      full = sum + cost > limit * (1 - free * future) and ours + cost > max(cost, limit * room.floor * future)
    end
    if full then first, last = first or stop, stop end
    sum = sum - used[stop - span + 1]
    ours = ours - (mine[stop - span + 1] or 0)
  end
  return first, last
end

local function search_runs(w, place, cost)
  local span, most = w.span, w.limit - cost
  local used = load_used(w, place - span + 1, place + span - 1)
  local sum, first, last = 0, nil, nil
  for index = place - span + 1, place do sum = sum + used[index] end
  if sum > most then first, last = place, place end
  for stop = place + 1, place + span - 1 do
    sum = sum + used[stop] - used[stop - span]
    if sum > most then first, last = first or stop, stop end
  end
  return first, last
end

-- Looks at every run that contains the place, as if asked at a moment. Returns the ends of the first and the last run in which the cost
-- does not fit, or nil.
local function too_full(w, place, cost, room, as_of)
  if has_room(w, cost, room) then return nil end
  if not w.sliding then
    load_plan(w, place, place)
    if (past_of(w)[place] or 0) + (w.plan[place] or 0) + cost > w.limit then return place, place end
    return nil
  end
  if surely_fits(w, place, cost, room) then return nil end
  if room.free > 0 then
    load_used(w, place - w.span + 1, place + w.span - 1)
    return too_full_of_class(w, place, cost, room, place_of(w, as_of))
  end
  -- The searches over all windows of a candidate look at the same places again.
  local checked = w.checked
  if not checked or checked.cost ~= cost then
    checked = { cost = cost, first = {}, last = {} }
    w.checked = checked
  end
  local first = checked.first[place]
  if first == nil then
    local last
    first, last = search_runs(w, place, cost)
    checked.first[place], checked.last[place] = first or false, last
  end
  return first or nil, checked.last[place]
end

-- The first moment not before `from` at which the cost fits for one who asks `lead` ahead of it.
local function earliest_fit(w, from, cost, room, lead)
  local at = from
  for _ = 1, TURNS_MAX do
    local first, last = too_full(w, place_of(w, at), cost, room, max(NOW, at - lead))
    if not first then return at end
    at = start_after(w, last)
  end
  return NEVER_MS
end

-- The latest moment not after `until_ms` and not before `from` at which the cost fits; -1 when there is none.
local function latest_fit(w, until_ms, from, cost, room)
  if has_room(w, cost, room) then return until_ms >= from and until_ms or -1 end
  open_plan(w)
  -- From here on no run holds anything of the past, so what is full stays full.
  local far, at, full_from, full_to = w.place + w.span, until_ms, nil, nil
  for _ = 1, TURNS_MAX do
    if at < from then break end
    local place = place_of(w, at)
    local first = w.sliding and place >= far and full_since(w, room.runs, place, cost)
    if first then first = max(first, far)
    else
      local stop = too_full(w, place, cost, room, NOW)
      if not stop then break end
      -- The run that ends first and is too full must not contain it: its place is before that run begins.
      first = w.sliding and stop - w.span + 1 or stop
    end
    if w.sliding and place >= far then full_from, full_to = max(first, far), full_to or place end
    at = start_of(w, first) - 1
  end
  if full_from then note_full(w, room.runs, full_from, full_to, cost) end
  return at >= from and at or -1
end

local function class_in_cell(w, cell, rank)
  local sum, first = 0, cell * w.cell
  load_plan(w, first, first + w.cell - 1)
  for place = first, first + w.cell - 1 do sum = sum + (w.classes[rank][place] or 0) end
  return sum
end

-- The latest moment not after `until_ms` at which the plan stays as even as the limit's own pace. It lies after the bucket of now: a promise
-- there is due, leaves the plan with its dispatch, and would make room for any number of others.
local function latest_even(w, until_ms, cost, room)
  if not is_paced(w) then return until_ms end
  local from = start_of(w, place_of(w, NOW) + 1)
  local cell = w.cell
  local cell_ms = w.bucket_ms * cell
  local rate = (w.limit * cell) / w.span
  local rate_of_class = rate * (1 - room.free)
  open_plan(w)
  local at, index, full_from, full_to = until_ms, floor(until_ms / cell_ms), nil, nil
  for _ = 1, TURNS_MAX do
    if at < from then break end
    local first = full_since(w, room.cells, index, cost)
    if not first then
      local free = floor((index + 1) * rate) - floor(index * rate)
      local free_of_class = floor((index + 1) * rate_of_class) - floor(index * rate_of_class)
      if planned_in_cell(w, index) + cost <= free then
        if room.free == 0 or class_in_cell(w, index, room.rank) + cost <= free_of_class then break end
      end
      first = index
    end
    full_from, full_to = first, full_to or index
    index = first - 1
    at = first * cell_ms - 1
  end
  if full_from then note_full(w, room.cells, full_from, full_to, cost) end
  return at >= from and at or -1
end

-- When what was dispatched leaves room for the cost, whatever the plan holds.
local function past_room_ms(w, cost)
  local over = w.total + cost - w.limit
  if over <= 0 then return NOW end
  if cost > w.limit then return NEVER_MS end
  if not w.sliding then return start_after(w, w.place) end
  local past = past_of(w)
  for place = w.place - w.span + 1, w.place do
    over = over - (past[place] or 0)
    if over <= 0 then return start_of(w, place + w.span) end
  end
  return NEVER_MS
end

-- When what was dispatched leaves room for the cost beside the whole plan and what its class leaves to others, and how much of the plan
-- is too much even then.
local function after_past(w, cost, room)
  local need = w.total + w.reserved + cost - (w.sliding and w.limit * (1 - room.free) or w.limit)
  if need <= 0 then return NOW, need end
  if not w.sliding then return start_after(w, w.place), need - w.total end
  local past, span = past_of(w), w.span
  for place = w.place - span + 1, w.place do
    need = need - (past[place] or 0)
    if need <= 0 then return start_of(w, place + span), need end
  end
  return start_of(w, w.place + span), need
end

-- The moment from which on those who are planned at a place count no more.
local function counts_until(w, place)
  return w.sliding and start_of(w, place + w.span) or start_after(w, place)
end

-- When the cost fits whenever those who wait go: by its moment each of them is gone, and a span later it counts no more.
local function after_promises(line, w, cost, room)
  local at, need = after_past(w, cost, room)
  if need <= 0 or w.reserved <= 0 then return at end
  local newest = call('ZRANGE', line.base .. 'plan:' .. w.key, 0, 0, 'REV', 'WITHSCORES')
  local last = place_of(w, newest[2] and tonumber(newest[2]) or NOW)
  open_plan(w)
  local place = w.place
  while place <= last do
    local chunk = chunk_of(w, place)
    local stop = w.sliding and min(last, (chunk + 1) * CHUNK - 1) or place
    local sum = sum_of(w, chunk)
    if need > sum then
      need = need - sum
    else
      load_plan(w, place, stop)
      for index = place, stop do
        need = need - (w.plan[index] or 0)
        if need <= 0 then return counts_until(w, index) end
      end
    end
    at = counts_until(w, stop)
    place = w.sliding and stop + 1 or start_after(w, place)
  end
  return at
end

-- When one more fits if those who wait go one by one at the limit's own pace, from the first moment at which what was dispatched never
-- holds them back. They go no later than that; each counts for a span.
local function after_line(line, w, cost, room, cool)
  local _, need = after_past(w, cost, room)
  if need <= 0 or not w.sliding then return after_promises(line, w, cost, room) end
  local interval, past, span, from = interval_of(w, w.limit), past_of(w), w.span, cool
  -- How many of the line may go before a place has left the span.
  local ahead = w.limit - w.total
  for place = w.place - span + 1, w.place do
    local amount = past[place] or 0
    if amount > 0 and ahead + amount >= 1 then
      from = max(from, start_of(w, place + span) - max(1, ahead + 1) * interval)
    end
    ahead = ahead + amount
  end
  -- A timer may let the last of them go a bucket later.
  local gone = place_of(w, ceil(from + need * interval)) + 1
  return start_of(w, gone + span)
end

-- Pace ---------------------------------------------------------------------------------------------------------------

-- The longest time between two releases, at most `interval`, at which the whole plan is kept. The plan is the demand: by each place,
-- everything that is reserved up to it has to be gone.
local function slowest_interval(w, mark, interval)
  local reserved, bucket_ms, due = w.reserved, w.bucket_ms, 0
  open_plan(w)
  local first = w.place
  local chunk = chunk_of(w, first)
  while due < reserved do
    local left, sum = max(1, first * bucket_ms - mark), sum_of(w, chunk)
    if left >= reserved * interval then break end
    -- A chunk is looked at place by place only if it could ask for a quicker pace.
    if sum > 0 then
      local last = (chunk + 1) * CHUNK - 1
      if left / (due + sum) < interval then
        load_plan(w, first, last)
        local plan = w.plan
        for place = first, last do
          local here = plan[place]
          if here and here > 0 then
            due = due + here
            interval = min(interval, max(1, place * bucket_ms - mark) / due)
          end
        end
      else
        due = due + sum
      end
    end
    chunk = chunk + 1
    first = chunk * CHUNK
  end
  return interval
end

-- When pacing lets the next one go: at the limit's own pace, or the slowest at which the whole plan is kept. 0 without pacing.
local function pace_next(w)
  if not is_paced(w) then return 0 end
  if w.next then return w.next end
  local mark, interval = w.mark, interval_of(w, w.limit)
  if mark + interval > NOW and w.reserved > 0 then interval = slowest_interval(w, mark, interval) end
  w.next = mark + interval
  return w.next
end

-- No unit of a concurrency limit is free.
local function units_full(w) return w.held and w.total >= w.limit end
