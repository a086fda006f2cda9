-- ARGV: time or '', epoch, '' or 'adopt', how long the shard stays closed, how long its short windows are unknown, organizations…
-- Starts an epoch, unless it is not newer than what is stored; epoch 0 only looks. What an older one left is forgotten: windows, lines, and what leases
-- hold or held. Leases keep their drafts, so that a request whose gateway is gone gets its row; usage stays in its stream. 'adopt': the shard has had
-- no epoch. What is there is believed, and a short window that is not there may be in the ledger: another version, or another Redis, served before.
--
-- `epoch` holds the number, and at first also when the shard opens and until when its short windows are unknown: 'number:opens:until'. Returns the
-- number, the sequence, and milliseconds until the shard opens.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local wanted, text = tonumber(ARGV[2]), call('GET', PREFIX .. 'epoch') or '0'
local number, opens = string.match(text, '^(%d+):(%d+):')
local stored = tonumber(number or text)
if wanted <= stored then return { stored, SEQUENCE, max(0, tonumber(opens or 0) - NOW) } end
keep_clock()
local function start_epoch(closed_ms)
  call('SET', PREFIX .. 'epoch', format('%s:%.0f:%.0f', ARGV[2], NOW + closed_ms, NOW + tonumber(ARGV[5])))
  return { wanted, SEQUENCE, closed_ms }
end
if ARGV[3] == 'adopt' then return start_epoch(0) end

local function forget_organization(org)
  local base = PREFIX .. org .. ':'
  local keys = { base .. 'heads' }
  local function add(name) keys[#keys + 1] = base .. name end
  for _, key in ipairs(call('HKEYS', base .. 'heads')) do
    for _, part in ipairs({ 'ring:', 'plan:', 'planned:' }) do add(part .. key) end
  end
  for _, id in ipairs(call('HKEYS', base .. 'queues')) do
    add('queue:' .. id)
    add('size:' .. id)
  end
  for _, place in ipairs(call('HKEYS', base .. 'places')) do
    add('least:' .. place)
    for rank = 0, 2 do add('place:' .. place .. ':' .. rank) end
  end
  for _, part in ipairs(LINE_PARTS) do add(part) end
  for _, key in ipairs(keys) do call('DEL', key) end
end

for index = 6, #ARGV do forget_organization(ARGV[index]) end
-- Earlier attempts that restore-uses.lua wrote.
call('DEL', PREFIX .. 'restored')
for _, op in ipairs(call('HKEYS', PREFIX .. 'leases')) do
  local lease = lease_of(op)
  if lease and lease.state == 'dispatched' then keep_tried(lease, { lease.draft, lease.candidate })
  elseif lease and lease.state == 'waiting' then forget_waiting(op)
  elseif lease and lease.state == 'late' then forget(op) end
end
flush_leases()
return start_epoch(tonumber(ARGV[4]))
