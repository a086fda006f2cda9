-- What the line and the slower scripts need beside the heads: windows one by one, the plan, units of concurrency, and cooldowns.
local min, ceil = math.min, math.ceil
local CELL = { second = 4, minute = 8 }

-- The window of a limit, the same table for the whole script. What the line needs to know of it is added.
local function window_for(org, id, metric, period)
  local opened = windows[org]
  if not opened then
    opened = {}
    windows[org] = opened
  end
  local key = id .. ':' .. metric .. ':' .. period
  local window = opened[key]
  if not window then
    window = open_window(org, key, metric, period, call('HGET', PREFIX .. org .. ':heads', key))
    opened[key] = window
  end
  if not window.id then
    window.id, window.held, window.from = id, HELD[metric] or false, window.from or window.place
    window.bucket_ms, window.span, window.cell = BUCKET_MS[period], SPAN[period] or 1, CELL[period]
    window.sliding, window.ring_key = window.bucket_ms ~= nil, ring_key(window)
  end
  return window
end

-- Opens many windows of one organization with one read.
local function open_windows(org, charges)
  local opened = windows[org] or {}
  windows[org] = opened
  local missing, asked, keys = {}, {}, {}
  for _, charge in ipairs(charges) do
    local key = charge.key
    if not opened[key] and not asked[key] then
      asked[key] = true
      missing[#missing + 1] = charge
      keys[#keys + 1] = key
    end
  end
  if #keys == 0 then return end
  local texts = call('HMGET', PREFIX .. org .. ':heads', unpack(keys))
  for index, charge in ipairs(missing) do
    opened[charge.key] = open_window(org, charge.key, charge.metric, charge.period, texts[index])
  end
end

local function place_of(window, at) return place_at(window.period, at) end

local function start_of(window, place)
  return window.sliding and place * window.bucket_ms or place + SHIFT
end

local function hold(window)
  window.total, window.dirty = window.total + 1, true
end

-- How long units are held on average; 0 before the first is given back.
local function mean_ms(window) return max(0, window.mark) end

local cooldowns = {}

local function cooldown_of(org, endpoint)
  local key = PREFIX .. org .. ':cooldown:' .. endpoint
  local until_ms = cooldowns[key]
  if not until_ms then
    until_ms = tonumber(call('GET', key) or 0) or 0
    cooldowns[key] = until_ms
  end
  return until_ms
end
