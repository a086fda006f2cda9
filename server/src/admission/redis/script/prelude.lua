-- Shared by every script of the engine. The rules are those of ../../memory, function by function; random histories
-- compare the two engines. Every key starts with one prefix that carries the hash tag, so that everything a script
-- touches lies in one slot of a cluster. metrics.lua, before this text, defines QUANTITY, HELD and PACED.
local PREFIX = KEYS[1]
local RETRY_UNKNOWN_MS = 1000
local NEVER_MS = 9e15
local PASSES_MAX = 64
local WAKES_MAX = 8
local HOUR_MS = 3600000
local DAY_MS = 86400000
local SLACK_MS = 60000
local BUCKET_MS = { second = 50, minute = 500 }
local SPAN = { second = 22, minute = 122 }

local floor, ceil, max = math.floor, math.ceil, math.max
local call, pack, unpack_value = redis.call, cmsgpack.pack, cmsgpack.unpack

local NOW = 0

-- The server's clock, which never goes back. Tests pass their own time.
local function time_ms(given)
  if given ~= '' then
    NOW = tonumber(given)
  else
    local time = call('TIME')
    NOW = time[1] * 1000 + floor(time[2] / 1000)
  end
  NOW = max(NOW, tonumber(call('GET', PREFIX .. 'clock') or 0))
  return NOW
end

local function keep_time(now)
  call('SET', PREFIX .. 'clock', string.format('%.0f', now))
end

local function lease_key(op) return PREFIX .. 'lease:' .. op end
local function queue_key(org, queue) return PREFIX .. org .. ':queue:' .. queue end
local function order_key(org, queue) return PREFIX .. org .. ':order:' .. queue end
local function line_key(org, id) return PREFIX .. org .. ':line:' .. id end
local function holders_key(org, id) return PREFIX .. org .. ':holders:' .. id end
local function cooldown_key(org, endpoint) return PREFIX .. org .. ':cooldown:' .. endpoint end
local function window_key(org, id, metric, period)
  return PREFIX .. org .. ':window:' .. id .. ':' .. metric .. ':' .. period
end

-- Calendar windows ---------------------------------------------------------------------------------------------------

local function window_start(period, at)
  if period == 'hour' then return floor(at / HOUR_MS) * HOUR_MS end
  local day = floor(at / DAY_MS)
  if period == 'day' then return day * DAY_MS end
  -- Day of the month from the day's number, counting years from March so that the leap day comes last.
  local shifted = day + 719468
  local in_era = shifted - floor(shifted / 146097) * 146097
  local year = floor((in_era - floor(in_era / 1460) + floor(in_era / 36524) - floor(in_era / 146096)) / 365)
  local in_year = in_era - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * in_year + 2) / 153)
  local day_of_month = in_year - floor((153 * month + 2) / 5)
  return (day - day_of_month) * DAY_MS
end

local function next_window(period, at)
  local start = window_start(period, at)
  if period == 'hour' then return start + HOUR_MS end
  if period == 'day' then return start + DAY_MS end
  return window_start('month', start + 32 * DAY_MS)
end

-- Windows: read once, changed in memory, written at the end ------------------------------------------------------------

-- A window is one string: mark and total, then pairs of place and amount, newest place first; each number has eight
-- bytes. Most requests touch only the first entries, so the others are never decoded.
local NUMBERS = '>dd'
local ENTRY_BYTES = 16
local struct_pack, struct_unpack, sub = struct.pack, struct.unpack, string.sub

local windows = {}

-- The newest place that no longer counts.
local function last_past(period)
  local bucket_ms = BUCKET_MS[period]
  return bucket_ms and floor(NOW / bucket_ms) - SPAN[period] or window_start(period, NOW) - 1
end

local function decode_window(text, key, period)
  local window = { key = key, period = period, pace = 0, total = 0, entries = '', dirty = false, known = false }
  windows[key] = window
  window.past = last_past(period)
  if not text then return window end
  window.known = true
  window.pace, window.total = struct_unpack(NUMBERS, text)
  local bytes = #text
  while bytes > ENTRY_BYTES do
    local place, amount = struct_unpack(NUMBERS, text, bytes - ENTRY_BYTES + 1)
    if place > window.past then break end
    window.total = window.total - amount
    bytes = bytes - ENTRY_BYTES
  end
  window.entries = sub(text, ENTRY_BYTES + 1, bytes)
  return window
end

local function encode_window(pace, total, entries)
  return struct_pack(NUMBERS, pace, total) .. entries
end

local function window_of(org, id, metric, period)
  local key = window_key(org, id, metric, period)
  return windows[key] or decode_window(call('GET', key), key, period)
end

local function load_windows(keys, periods)
  if #keys == 0 then return end
  local texts = call('MGET', unpack(keys))
  for index, key in ipairs(keys) do decode_window(texts[index], key, periods[index]) end
end

-- The byte offset of the place among the entries, or where it belongs, and its amount if it has one.
local function find(window, place)
  local entries = window.entries
  local low, high, middle = 0, #entries / ENTRY_BYTES, 0
  while low < high do
    local found, amount = struct_unpack(NUMBERS, entries, middle * ENTRY_BYTES + 1)
    if found == place then return middle * ENTRY_BYTES, amount end
    if found > place then low = middle + 1 else high = middle end
    middle = floor((low + high) / 2)
  end
  return low * ENTRY_BYTES, nil
end

local function add(window, place, amount)
  if amount == 0 then return end
  window.dirty = true
  if place <= window.past then return end
  local offset, before = find(window, place)
  local after = max(0, (before or 0) + amount)
  local entries = window.entries
  local behind = offset + (before and ENTRY_BYTES or 0)
  local entry = after > 0 and struct_pack(NUMBERS, place, after) or ''
  window.entries = sub(entries, 1, offset) .. entry .. sub(entries, behind + 1)
  window.total = window.total + after - (before or 0)
  window.amounts = nil
end

-- Every place with its amount, for searches over all entries.
local function amounts_of(window)
  if window.amounts then return window.amounts end
  local amounts = {}
  for offset = 1, #window.entries, ENTRY_BYTES do
    local place, amount = struct_unpack(NUMBERS, window.entries, offset)
    amounts[place] = amount
  end
  window.amounts = amounts
  return amounts
end

local function newest_place(window)
  return window.entries ~= '' and struct_unpack(NUMBERS, window.entries) or nil
end

local function write_windows(now)
  for key, window in pairs(windows) do
    local bucket_ms = BUCKET_MS[window.period]
    -- A calendar window that was never initialized from the ledger must not be written as if it had been.
    if window.dirty and (bucket_ms or window.known) then
      local newest = newest_place(window)
      local until_ms
      if bucket_ms then
        until_ms = max(newest and (newest + SPAN[window.period]) * bucket_ms or now, window.pace) + SLACK_MS
      else
        until_ms = (newest and next_window(window.period, newest) or now) + DAY_MS
      end
      local text = encode_window(window.pace, window.total, window.entries)
      call('SET', key, text, 'PX', string.format('%.0f', max(1, ceil(until_ms - now))))
    end
  end
end

local function earliest_in_sliding(window, limit, cost, from)
  local room = limit - cost
  if window.total <= room then return from end
  local bucket_ms, span, at = BUCKET_MS[window.period], SPAN[window.period], amounts_of(window)
  local bucket = floor(from / bucket_ms)
  while true do
    local sum = 0
    for index = bucket - span + 1, bucket do sum = sum + (at[index] or 0) end
    local too_full = sum > room and bucket or -1
    for stop = bucket + 1, bucket + span - 1 do
      sum = sum + (at[stop] or 0) - (at[stop - span] or 0)
      if sum > room then too_full = stop end
    end
    if too_full < 0 then return max(from, bucket * bucket_ms) end
    bucket = too_full + 1
  end
end

local function earliest_for(charge, from, paced)
  local period, window = charge.period, charge.window
  if period == 'none' then return from end
  if not BUCKET_MS[period] then
    if window.total + charge.cost <= charge.limit then return from end
    local at, amounts = from, amounts_of(window)
    while (amounts[window_start(period, at)] or 0) + charge.cost > charge.limit do at = next_window(period, at) end
    return at
  end
  local start = from
  if paced and PACED[charge.metric] then start = max(from, floor(window.pace)) end
  return earliest_in_sliding(window, charge.limit, charge.cost, start)
end

-- Used up to now, reserved for later, and the time until the window is empty.
local function usage_of(window, now)
  local period = window.period
  local bucket_ms = BUCKET_MS[period]
  local current = bucket_ms and floor(now / bucket_ms) or window_start(period, now)
  local reserved = 0
  for offset = 1, #window.entries, ENTRY_BYTES do
    local place, amount = struct_unpack(NUMBERS, window.entries, offset)
    if place <= current then break end
    reserved = reserved + amount
  end
  local reset = 0
  local newest = newest_place(window)
  if not bucket_ms then reset = next_window(period, now) - now
  elseif newest then reset = max(0, (newest + SPAN[period]) * bucket_ms - now) end
  return window.total - reserved, reserved, reset
end

-- Writing and correcting charges ---------------------------------------------------------------------------------------

local function post(charges, slot)
  local postings = {}
  for _, charge in ipairs(charges) do
    local period = charge.period
    if period ~= 'none' then
      local window = charge.window
      local bucket_ms = BUCKET_MS[period]
      local place = bucket_ms and floor(slot / bucket_ms) or window_start(period, slot)
      add(window, place, charge.cost)
      local before = window.pace
      if bucket_ms and PACED[charge.metric] then
        -- The mark keeps fractions of a millisecond, so that several requests can share one.
        local last = floor(before) == slot and before or slot
        window.pace = max(before, last + (bucket_ms * SPAN[period]) / charge.limit)
      end
      postings[#postings + 1] = { charge.id, charge.metric, period, charge.cost, place, before, window.pace }
    end
  end
  return postings
end

-- `actual` is nil when nothing was used.
local function correct(org, postings, actual, now)
  for _, posting in ipairs(postings) do
    local id, metric, period, cost, place = posting[1], posting[2], posting[3], posting[4], posting[5]
    local used = 0
    if actual and actual.dispatched then
      local quantity = QUANTITY[metric]
      used = quantity == 'requests' and 1 or actual[quantity]
    end
    local window = window_of(org, id, metric, period)
    local bucket_ms = BUCKET_MS[period]
    -- A bucket outside the window needs no correction.
    if not bucket_ms or place > floor(now / bucket_ms) - SPAN[period] then add(window, place, -max(0, cost - used)) end
    if used > cost then
      add(window, bucket_ms and floor(now / bucket_ms) or window_start(period, now), used - cost)
    end
    if bucket_ms and used == 0 and window.pace == posting[7] then
      window.pace = posting[6]
      window.dirty = true
    end
  end
end

-- Leases ---------------------------------------------------------------------------------------------------------------

local function read_lease(op)
  local text = call('GET', lease_key(op))
  return text and unpack_value(text) or nil
end

local function write_lease(op, lease)
  call('SET', lease_key(op), pack(lease))
  call('ZADD', PREFIX .. 'expiry', lease.expires, op)
end

-- Wakes the operations next in line; each of them, once served, wakes the next.
local function wake_next(lease)
  for id, limit in pairs(lease.concurrency) do
    local free = limit - call('SCARD', holders_key(lease.org, id))
    if free > 0 then
      for _, op in ipairs(call('ZRANGE', line_key(lease.org, id), 0, math.min(free, WAKES_MAX) - 1)) do
        local next_lease = read_lease(op)
        if next_lease then call('PUBLISH', 'relay:wake:' .. next_lease.gateway, op) end
      end
    end
  end
end

local function leave_line(op, lease)
  for id in pairs(lease.concurrency) do call('ZREM', line_key(lease.org, id), op) end
  call('ZREM', queue_key(lease.org, lease.queue), op)
end

-- A waiter is in its queue by slot, for new requests, and by arrival, for requests that ask again.
local function leave_queue(op, lease)
  call('ZREM', queue_key(lease.org, lease.queue), op)
  call('ZREM', order_key(lease.org, lease.queue), op)
end

local function forget(op, lease)
  if lease.state ~= 'dispatched' then leave_queue(op, lease) end
  call('DEL', lease_key(op))
  call('ZREM', PREFIX .. 'expiry', op)
  if lease.state ~= 'waiting' then wake_next(lease) end
end

local function give_back(op, lease, actual, now)
  correct(lease.org, lease.postings, actual, now)
  if lease.state == 'line' then leave_line(op, lease) end
  if lease.state == 'dispatched' then
    for _, id in ipairs(lease.holds) do call('SREM', holders_key(lease.org, id), op) end
  end
  forget(op, lease)
end

-- An attempt was sent and holds nothing any more: the lease keeps its draft until the operation is settled.
local function keep_tried(op, lease, tried, expires)
  lease.state, lease.tried, lease.expires = 'tried', tried, expires
  lease.postings, lease.holds, lease.concurrency = {}, {}, {}
  write_lease(op, lease)
end
