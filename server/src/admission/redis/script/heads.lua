-- Shared by every script of the engine, and first in its text. The rules are those of ../../memory; random histories compare the two
-- engines. Every key starts with one prefix that carries the hash tag, so that everything a script touches lies in one slot of a
-- cluster. metrics.lua, before this text, defines QUANTITY, HELD and PACED.
--
-- A window is a head and a ring. The head, a field of `<org>:heads`, is four numbers, or five while requests wait:
--   mark      when pacing released the last request; of a calendar window when it was started or recounted; of concurrency the mean
--             time that a unit is held
--   total     dispatched in the span that ends with `place`; of concurrency the units held
--   place     the bucket, or the start of the calendar window, that was current when the head was written
--   amount    dispatched in that place alone
--   reserved  promised to those who wait
-- The ring `<org>:ring:<window>` holds what was dispatched in the places before it, eight bytes each. Most requests read and write heads
-- alone: the ring is needed when the place changes, or when something is given back to an earlier one.
local PREFIX = KEYS[1]
local HOUR_MS, DAY_MS = 3600000, 86400000
local NEVER_MS = 9e15
local BUCKET_MS = { second = 50, minute = 500 }
local SPAN = { second = 22, minute = 122 }
local RING = { second = 32, minute = 128 }
local RING_TTL_MS = '180000'
-- A ring gets its time to live again once in so many places.
local RING_TTL_PLACES = 60
local HEAD, HEAD_BYTES = '>dddd', 32
local UNKNOWN_MEAN = -1

local call, floor, max = redis.call, math.floor, math.max
local struct_pack, struct_unpack, format = struct.pack, struct.unpack, string.format

local NOW, SEQUENCE = 0, 0
-- How far NOW is ahead of the server's clock. The server's clock may go back; NOW continues from where it was, so that windows, leases and
-- places in line keep their distances. Calendar windows, and what gateways are told, follow the server's clock.
local SHIFT = 0
-- In the first minute of an epoch a short window without a head may hold requests of the epoch before, and is as unknown as a calendar window.
local SHORT_UNKNOWN = false
-- Bucket or start of the window of each period now; those of the calendar are added when they are needed.
local current_places = {}

-- What is stored is not believed unless it is of the caller's epoch and not older than what the caller has seen of it. `stored`: see begin.lua.
local function check_epoch(epoch, seen, stored)
  if stored == epoch and SEQUENCE >= seen then return end
  local number, unknown_until = string.match(stored or '0', '^(%d+):%d+:(%d+)$')
  if (number or stored) ~= epoch or SEQUENCE < seen then
    error({ err = 'EPOCH ' .. (number or stored or '0') .. ' ' .. format('%.0f', SEQUENCE) })
  end
  SHORT_UNKNOWN = NOW < tonumber(unknown_until)
  if not SHORT_UNKNOWN then call('SET', PREFIX .. 'epoch', epoch) end
end

-- The moment, which never goes back, and a number that grows with every ask and every script that writes. `given`: the time of a test or
-- nothing, then the caller's epoch and the highest number that it has seen, unless it has no epochs. `stored`: the epoch, if it was read.
local function read_clock(given, text, stored)
  local time_given, epoch, seen = string.match(given, '^(%d*) (%d+) (%d+)$')
  time_given = time_given or given
  if time_given ~= '' then
    NOW = tonumber(time_given)
  else
    local time = call('TIME')
    NOW = time[1] * 1000 + floor(time[2] / 1000)
  end
  SEQUENCE, SHIFT, SHORT_UNKNOWN = 0, 0, false
  if text and #text >= 16 then
    local server, before = NOW, nil
    before, SEQUENCE = struct_unpack('>dd', text)
    -- The version before wrote no shift.
    NOW = max(before, server + (#text >= 24 and struct_unpack('>d', text, 17) or 0))
    SHIFT = NOW - server
  end
  if epoch then check_epoch(epoch, tonumber(seen), stored or call('GET', PREFIX .. 'epoch')) end
  current_places = { none = 0, second = floor(NOW / BUCKET_MS.second), minute = floor(NOW / BUCKET_MS.minute) }
end

-- The first write of a script, so that a server without memory refuses the script before it has changed anything.
local function keep_clock()
  SEQUENCE = SEQUENCE + 1
  call('SET', PREFIX .. 'clock', struct_pack('>ddd', NOW, SEQUENCE, SHIFT))
end

local function window_start(period, at)
  if period == 'hour' then return floor(at / HOUR_MS) * HOUR_MS end
  local day = floor(at / DAY_MS)
  if period == 'day' then return day * DAY_MS end
  -- Day 0 was a Thursday; weeks begin on Mondays.
  if period == 'week' then return (day - (day + 3) % 7) * DAY_MS end
  -- Day of the month from the day's number, counting years from March so that the leap day comes last.
  local shifted = day + 719468
  local in_era = shifted - floor(shifted / 146097) * 146097
  local year = floor((in_era - floor(in_era / 1460) + floor(in_era / 36524) - floor(in_era / 146096)) / 365)
  local in_year = in_era - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * in_year + 2) / 153)
  local day_of_month = in_year - floor((153 * month + 2) / 5)
  return (day - day_of_month) * DAY_MS
end

local function place_at(period, at)
  local bucket_ms = BUCKET_MS[period]
  if bucket_ms then return floor(at / bucket_ms) end
  return period == 'none' and 0 or window_start(period, at - SHIFT)
end

local function ring_key(window) return PREFIX .. window.org .. ':ring:' .. window.key end

local function ring_value(window, place)
  local text = window.ring
  if text == nil then
    text = call('GET', ring_key(window))
    window.ring = text
  end
  local offset = place % RING[window.period] * 8
  return text and #text >= offset + 8 and struct_unpack('>i8', text, offset + 1) or 0
end

local windows = {}

-- Takes over what a head says, false when there is none, and brings the window to the current place.
local function read_head(window, text)
  local period = window.period
  local place, span = current_places[period], SPAN[period]
  if not place then
    place = place_at(period, NOW)
    current_places[period] = place
  end
  local mark, total, from, amount, reserved = 0, 0, place, 0, 0
  -- A head that is cut off is none: a calendar window is rebuilt then.
  text = text and #text >= HEAD_BYTES and text
  if text then
    mark, total, from, amount = struct_unpack(HEAD, text)
    if #text > HEAD_BYTES then reserved = struct_unpack('>d', text, HEAD_BYTES + 1) end
  elseif period == 'none' then
    mark = UNKNOWN_MEAN
  end
  window.place, window.mark, window.total, window.amount, window.reserved = place, mark, total, amount, reserved
  window.dirty, window.known = false, text and true
  if from == place then return window end
  if from > place and not span and period ~= 'none' then
    -- The server's clock went back into an earlier window, whose count the ledger has.
    window.known, window.total, window.amount, window.reserved = false, 0, 0, 0
    return window
  end
  window.amount = 0
  if span and place - from < span then
    -- What was current belongs to the ring now, and what has slid out of the span leaves the sum.
    for gone = from - span + 1, place - span do total = total - ring_value(window, gone) end
    window.from, window.total, window.changed = from, total, { [from] = amount }
  else
    window.total = 0
    if span then window.from, window.cleared, window.ring = from, true, false end
  end
  return window
end

-- `text` is the head as it was read.
local function open_window(org, key, metric, period, text)
  local window = { org = org, key = key, metric = metric, period = period, place = 0, mark = 0, total = 0, amount = 0 }
  return read_head(window, text)
end

-- Dispatched in one place; nothing in those that no longer count.
local function dispatched_in(window, place)
  if place == window.place then return window.amount end
  local span = SPAN[window.period]
  if not span or place > window.place or place <= window.place - span then return 0 end
  local value = window.changed and window.changed[place]
  if value then return value end
  return (window.cleared or place >= (window.from or window.place)) and 0 or ring_value(window, place)
end

-- Adds to what was dispatched at a moment, or takes it back. Moments that no longer count are ignored.
local function spend(window, at, amount)
  local period = window.period
  local place, current, span = place_at(period, at), window.place, SPAN[period]
  if place ~= current and not (span and place < current and place > current - span) then return end
  local before = dispatched_in(window, place)
  local after = max(0, before + amount)
  if place == current then
    window.amount = after
  else
    window.changed = window.changed or {}
    window.changed[place] = after
  end
  if window.past then
    local used = window.used
    window.past[place], window.checked = after, nil
    if used[place] then used[place] = used[place] + after - before end
  end
  window.total = window.total + after - before
  window.dirty = true
end

-- The time between two releases at the limit's own pace.
local function interval_of(window, limit)
  local bucket_ms = BUCKET_MS[window.period]
  return bucket_ms and (bucket_ms * SPAN[window.period]) / limit or 0
end

-- Notes a release of a paced window. The mark stays where the release was due, unless it lies ahead or more than a bucket behind.
local function note_release(window, next_ms)
  local late = NOW - next_ms
  window.mark = late >= 0 and late <= BUCKET_MS[window.period] and next_ms or NOW
  window.next, window.dirty = nil, true
end

local function next_window(period, at)
  local start = window_start(period, at)
  if period == 'hour' then return start + HOUR_MS end
  if period == 'day' then return start + DAY_MS end
  if period == 'week' then return start + 7 * DAY_MS end
  return window_start('month', start + 32 * DAY_MS)
end

-- Dispatched, planned, and when the window is empty again if nothing else happens.
local function usage_of(window)
  local period = window.period
  if period == 'none' then return window.total, 0, 0 end
  local bucket_ms, span = BUCKET_MS[period], SPAN[period]
  if not bucket_ms then return window.total, window.reserved, next_window(period, NOW - SHIFT) - (NOW - SHIFT) end
  local last = -1
  if window.reserved > 0 then
    local newest = call('ZRANGE', PREFIX .. window.org .. ':plan:' .. window.key, 0, 0, 'REV', 'WITHSCORES')
    if newest[2] then last = floor(tonumber(newest[2]) / bucket_ms) end
  end
  if window.total > 0 then
    local place = window.place
    while dispatched_in(window, place) <= 0 and place > window.place - span do place = place - 1 end
    if place > last then last = place end
  end
  return window.total, window.reserved, last < 0 and 0 or max(0, (last + span) * bucket_ms - NOW)
end

local function write_ring(window)
  local key, ring = ring_key(window), RING[window.period]
  local changed, from, place = window.changed or {}, window.from or window.place, window.place
  if window.cleared then
    call('DEL', key)
  else
    -- Places without a dispatch may hold what was there a turn of the ring ago.
    for empty = from + 1, place - 1 do changed[empty] = changed[empty] or 0 end
  end
  local steps = { key }
  for at, value in pairs(changed) do
    local count = #steps
    steps[count + 1], steps[count + 2], steps[count + 3] = 'SET', 'i64', '#' .. at % ring
    steps[count + 4] = format('%.0f', value)
  end
  if #steps == 1 then return end
  call('BITFIELD', unpack(steps))
  if not window.ring or floor(from / RING_TTL_PLACES) ~= floor(place / RING_TTL_PLACES) then
    call('PEXPIRE', key, RING_TTL_MS)
  end
end

-- Adds the head of a window that changed to the arguments that write it, the last of which so far is at `last`, and writes its ring. Returns where
-- the last is then.
local function put_head(heads, last, window)
  local period = window.period
  if not (window.known or SPAN[period] or period == 'none') then return last end
  local text = struct_pack(HEAD, window.mark, window.total, window.place, window.amount)
  if window.reserved > 0 then text = text .. struct_pack('>d', window.reserved) end
  heads[last + 1], heads[last + 2] = window.key, text
  if window.changed or window.cleared then write_ring(window) end
  return last + 2
end

local function write_windows()
  for org, opened in pairs(windows) do
    local heads, last = { PREFIX .. org .. ':heads' }, 1
    for _, window in pairs(opened) do
      if window.dirty then last = put_head(heads, last, window) end
    end
    if last > 1 then call('HSET', unpack(heads)) end
  end
end
