-- Leases, and the shapes that they refer to. A shape is the charges of one candidate without limits and costs: thousands of leases share
-- one, so a lease is a few numbers, the name of its shape, and the draft of its record. Shapes are kept by the day of the dispatch,
-- two days longer than any lease lasts.
--
-- `leases` holds for each operation either DISPATCHED, in bytes: kind, when, sequence, candidate, number of costs, costs, shape, draft;
-- or any other state as a packed table: a waiter, an attempt that failed, a dispatch after such an attempt. A dispatched lease that ran out
-- stays for a day without its draft, so that a late settlement corrects what it was charged: LATE, then as DISPATCHED. `expiry` has the others by
-- their end, `late` has these. The first byte is kind and version in one: another format gets another number, and a lease of a number that
-- is not known here is set aside, not guessed at. The same number stands for the format of the shape that the lease refers to.
local pack, unpack_value, sub, byte = cmsgpack.pack, cmsgpack.unpack, string.sub, string.byte
local DISPATCHED, OTHER, LATE = 1, 2, 3
local LEASE, LEASE_BYTES = '>BddBB', 19
local SHAPE_BYTES = 16
-- How long a late settlement still corrects the windows. Reconciliation finds what comes later.
local LATE_MS = 86400000
local SHAPES_TTL_MS = '259200000'

local function shapes_key(at) return PREFIX .. 'shapes:' .. floor(at / DAY_MS) end

-- The numbers of a dispatched or late lease: when, sequence, candidate, costs, and where the name of its shape begins. Nil when it is cut off.
local function lease_numbers(text)
  if #text < LEASE_BYTES or #text < LEASE_BYTES + 8 * byte(text, LEASE_BYTES) + SHAPE_BYTES then return nil end
  local _, at, sequence, candidate, count = struct_unpack(LEASE, text)
  local position = LEASE_BYTES + 1
  if count == 2 then
    local first, second = struct_unpack('>dd', text, position)
    return at, sequence, candidate, { first, second }, position + 16
  end
  local costs = {}
  for index = 1, count do
    costs[index] = struct_unpack('>d', text, position)
    position = position + 8
  end
  return at, sequence, candidate, costs, position
end

local function encode_dispatched(at, sequence, candidate, costs, shape, draft, kind)
  if #costs == 2 then
    return struct_pack('>BddBBdd', kind or DISPATCHED, at, sequence, candidate, 2, costs[1], costs[2]) .. shape .. draft
  end
  local numbers = struct_pack(LEASE, kind or DISPATCHED, at, sequence, candidate, #costs)
  for index = 1, #costs do numbers = numbers .. struct_pack('>d', costs[index]) end
  return numbers .. shape .. draft
end

-- What a shape's text holds, or nil when it cannot be read: the organization, then four values for each charge.
local function read_stored_shape(text)
  local is_read, shape = pcall(unpack_value, text)
  if not is_read or type(shape) ~= 'table' or type(shape[1]) ~= 'string' or #shape % 4 ~= 1 then return nil end
  for position = 2, #shape, 4 do
    if type(shape[position]) ~= 'string' or not QUANTITY[shape[position + 1]] then return nil end
    if type(shape[position + 2]) ~= 'string' or type(shape[position + 3]) ~= 'number' then return nil end
  end
  return shape
end

local function cost_of(costs, charge)
  return charge.column == 0 and 1 or costs[charge.column]
end

-- Gives back what charges hold and did not use: the unused part where it was charged. Use beyond the estimate is charged to the calendar window of the
-- dispatch, which may be over, and to short windows now. `charged` are the open windows, `columns` tell which of the costs each was charged. `used`
-- false: it used nothing. `settled` tells how long units were held; `touch` gets each limit that has more room.
local function settle_charges(charged, columns, costs, at, used, settled, touch)
  for position = 1, #charged do
    local window, column = charged[position], columns[position]
    local metric = window.metric
    if HELD[metric] then
      window.total, window.dirty = max(0, window.total - 1), true
      if settled then
        local held_ms, mean = NOW - at, window.mark
        window.mark = mean < 0 and held_ms or mean * 0.9 + held_ms * 0.1
      end
      if touch then touch(window.org, window) end
    else
      local difference = (used and used[QUANTITY[metric]] or 0) - (column == 0 and 1 or costs[column])
      if difference < 0 then
        spend(window, at, difference)
        if touch then touch(window.org, window) end
      elseif difference > 0 then
        spend(window, SPAN[window.period] and NOW or at, difference)
      end
    end
  end
end
