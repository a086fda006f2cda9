-- ARGV: time or '', organization
-- Forgets the line of an organization that cannot be read any more: who waits there has no lease then, and asks again. What was dispatched stays
-- charged, what was promised is free. Returns how many waited, -1 when there is no line.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local base = PREFIX .. ARGV[2] .. ':'

-- Of whatever is stored there.
local function fields_of(part)
  local fields = redis.pcall('HKEYS', base .. part)
  return fields.err and {} or fields
end

local function delete(name) call('DEL', base .. name) end

if call('EXISTS', base .. 'line', base .. 'waiters', base .. 'queues', base .. 'places') == 0 then return -1 end
keep_clock()
local waiters, queues, places, heads = fields_of('waiters'), fields_of('queues'), fields_of('places'), fields_of('heads')
for _, place in ipairs(places) do
  delete('least:' .. place)
  for rank = 0, 2 do delete('place:' .. place .. ':' .. rank) end
end
-- A waiter names its queue too.
for _, op in ipairs(waiters) do
  local is_read, record = pcall(unpack_value, call('HGET', base .. 'waiters', op))
  if is_read and type(record) == 'table' and type(record[1]) == 'string' then queues[#queues + 1] = record[1] end
end
for _, queue in ipairs(queues) do
  delete('queue:' .. queue)
  delete('size:' .. queue)
end
for _, window in ipairs(heads) do
  delete('plan:' .. window)
  local text = call('HGET', base .. 'heads', window)
  if #text > HEAD_BYTES then call('HSET', base .. 'heads', window, sub(text, 1, HEAD_BYTES)) end
end
for _, part in ipairs(LINE_PARTS) do delete(part) end
for _, op in ipairs(waiters) do
  local lease = lease_of(op)
  if lease and lease.state == 'waiting' then forget_waiting(op) end
end
flush_leases()
return #waiters
