-- The plan of a window: what is reserved for those who wait, by place and class. It is stored in chunks of places and blocks of cells, and
-- only those are read that a search looks at:
--   plan     place → reserved; classes: the same for each class; sums: chunk → reserved, in blocks of chunks
--   cells    cell → reserved, of windows that are paced; zones: see line-zones.lua
--   past     place → dispatched; used: place → both, of a sliding window. `spend` keeps them.
local CHUNK = 32
local BLOCK = 64
local RING_FORMAT = { second = '>' .. string.rep('i8', RING.second), minute = '>' .. string.rep('i8', RING.minute) }

local function is_paced(w) return w.sliding and PACED[w.metric] end

local function past_of(w)
  local past = w.past
  if past then return past end
  past = {}
  w.past, w.used = past, w.used or {}
  if w.amount > 0 then past[w.place] = w.amount end
  if not w.sliding then return past end
  local ring, changed, from, values = RING[w.period], w.changed or {}, w.from or w.place, nil
  -- The ring is read with its first value.
  if w.ring == nil then ring_value(w, w.place) end
  local text = not w.cleared and w.ring
  if text and #text == ring * 8 then values = { struct_unpack(RING_FORMAT[w.period], text) } end
  for place = w.place - w.span + 1, w.place - 1 do
    local amount = changed[place]
    if not amount and place < from then amount = values and values[place % ring + 1] or text and ring_value(w, place) end
    if amount and amount > 0 then past[place] = amount end
  end
  return past
end

local function planned_key(w) return PREFIX .. w.org .. ':planned:' .. w.key end

local function open_plan(w)
  if w.plan then return end
  w.plan, w.classes, w.chunks = {}, { [0] = {}, {}, {} }, {}
  w.sums, w.sum_blocks, w.cells, w.blocks, w.zones = {}, {}, {}, {}, {}
  local text = w.reserved > 0 and call('HGET', planned_key(w), 'zones')
  if text then w.zones = unpack_value(text) end
end

-- What is reserved in a chunk.
local function sum_of(w, chunk)
  local sums = w.sums
  local sum = sums[chunk]
  if sum then return sum end
  local block = floor(chunk / BLOCK)
  if w.sum_blocks[block] then return 0 end
  w.sum_blocks[block] = true
  local text = w.reserved > 0 and call('HGET', planned_key(w), 'sums:' .. format('%.0f', block))
  if not text then return 0 end
  local list, first = unpack_value(text), block * BLOCK
  for at = 1, #list, 2 do sums[first + list[at]] = list[at + 1] end
  return sums[chunk] or 0
end

local function chunk_of(w, place) return w.sliding and floor(place / CHUNK) or place end

local function fill_chunk(w, index, text)
  w.chunks[index] = true
  if not text then return end
  local first = w.sliding and index * CHUNK or index
  local list, plan, classes = unpack_value(text), w.plan, w.classes
  for at = 1, #list, 3 do
    local place, rank, amount = first + list[at], list[at + 1], list[at + 2]
    plan[place] = (plan[place] or 0) + amount
    classes[rank][place] = amount
  end
end

-- Reads the plan from one place to another.
local function load_plan(w, from, to)
  open_plan(w)
  local chunks, missing, fields = w.chunks, nil, nil
  for index = chunk_of(w, from), chunk_of(w, to) do
    if not chunks[index] then
      if sum_of(w, index) > 0 then
        missing, fields = missing or {}, fields or {}
        missing[#missing + 1], fields[#fields + 1] = index, format('%.0f', index)
      else
        chunks[index] = true
      end
    end
  end
  if not missing then return end
  local texts = call('HMGET', planned_key(w), unpack(fields))
  for at, index in ipairs(missing) do fill_chunk(w, index, texts[at]) end
end

-- Past and plan of a sliding window from one place to another, without gaps.
local function load_used(w, from, to)
  local past, used = past_of(w), w.used
  if used[from] and used[to] and w.used_from and w.used_from <= from and w.used_to >= to then return used end
  load_plan(w, from, to)
  local plan = w.plan
  for place = from, to do
    if not used[place] then used[place] = (past[place] or 0) + (plan[place] or 0) end
  end
  w.used_from, w.used_to = from, to
  return used
end

-- What is reserved in a cell of a paced window.
local function planned_in_cell(w, cell)
  local sum = w.cells and w.cells[cell]
  if sum then return sum end
  open_plan(w)
  local block, cells = floor(cell / BLOCK), w.cells
  if not w.blocks[block] then
    w.blocks[block] = true
    local text = w.reserved > 0 and call('HGET', planned_key(w), 'cells:' .. format('%.0f', block))
    local list, first = text and unpack_value(text) or {}, block * BLOCK
    for at = 1, BLOCK do cells[first + at - 1] = list[at] or 0 end
  end
  return cells[cell]
end

-- Reserves at a moment for a class, or gives a reservation back.
local function plan_at(w, at, amount, rank)
  local place = place_of(w, at)
  local chunk = chunk_of(w, place)
  load_plan(w, place, place)
  local plan, class = w.plan, w.classes[rank]
  w.sums[chunk] = sum_of(w, chunk) + amount
  w.changed_sums = w.changed_sums or {}
  w.changed_sums[floor(chunk / BLOCK)] = true
  if is_paced(w) then
    local cell = floor(place / w.cell)
    w.cells[cell] = planned_in_cell(w, cell) + amount
    if amount < 0 then cut_zones(w, 'cell', cell, cell) end
    w.changed_blocks = w.changed_blocks or {}
    w.changed_blocks[floor(cell / BLOCK)] = true
  end
  plan[place] = (plan[place] or 0) + amount
  class[place] = (class[place] or 0) + amount
  if w.used and w.used[place] then w.used[place] = w.used[place] + amount end
  if amount < 0 then cut_zones(w, 'run', place - w.span + 1, place + w.span - 1) end
  w.reserved = w.reserved + amount
  w.replanned = w.replanned or {}
  w.replanned[chunk] = true
  w.checked, w.next, w.dirty = nil, nil, true
end

local function pack_chunk(w, index)
  local first, list = w.sliding and index * CHUNK or index, {}
  local plan, classes = w.plan, w.classes
  for place = first, w.sliding and first + CHUNK - 1 or first do
    local planned = plan[place]
    if planned and planned > 0 then
      for rank = 0, 2 do
        local amount = classes[rank][place]
        if amount and amount > 0 then
          local at = #list
          list[at + 1], list[at + 2], list[at + 3] = place - first, rank, amount
        end
      end
    end
  end
  return pack(list)
end

-- Nil when nothing is reserved in the block.
local function pack_block(w, block)
  local list, any = {}, false
  for at = 1, BLOCK do
    local sum = w.cells[block * BLOCK + at - 1]
    list[at], any = sum, any or sum > 0
  end
  return any and pack(list) or nil
end

-- Nil when nothing is reserved in the block.
local function pack_sums(w, block)
  local first, list = block * BLOCK, {}
  for chunk = first, first + BLOCK - 1 do
    local sum = w.sums[chunk]
    if sum and sum > 0 then
      local at = #list
      list[at + 1], list[at + 2] = chunk - first, sum
    end
  end
  return #list > 0 and pack(list) or nil
end

local function flush_plan(w)
  local key = planned_key(w)
  if w.reserved <= 0 then return call('DEL', key) end
  local written, gone = { key, 'zones', pack(w.zones) }, { key }
  local function put(field, text)
    if text then written[#written + 1], written[#written + 2] = field, text else gone[#gone + 1] = field end
  end
  for index in pairs(w.replanned) do put(format('%.0f', index), w.sums[index] > 0 and pack_chunk(w, index)) end
  for block in pairs(w.changed_sums) do put('sums:' .. format('%.0f', block), pack_sums(w, block)) end
  for block in pairs(w.changed_blocks or {}) do put('cells:' .. format('%.0f', block), pack_block(w, block)) end
  call('HSET', unpack(written))
  if #gone > 1 then call('HDEL', unpack(gone)) end
end

-- Writes what changed in the plans of an organization.
local function flush_plans(org)
  for _, w in pairs(windows[org] or {}) do
    if w.replanned then
      flush_plan(w)
      w.replanned, w.changed_sums, w.changed_blocks, w.zones_changed = nil, nil, nil, nil
    elseif w.zones_changed then
      -- What was searched in vain is not searched again.
      if w.reserved > 0 then call('HSET', planned_key(w), 'zones', pack(w.zones)) end
      w.zones_changed = nil
    end
  end
end
