-- ARGV: time or '', gateway, how many leases to end at most
-- Voids waiting leases. Dispatched leases, and attempts that were sent before an operation waited again, stay charged at
-- their estimate and go to the usage stream marked so; what a dispatched one was charged is kept for a late settlement. A lease that cannot be
-- read is set aside. Returns how many ended, the time, the releases for this gateway, the operations that were set aside, and for each line that
-- cannot be read its organization and why.
local ASIDE_MAX, ASIDE_TTL_MS = 1000, '2592000000'
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local function due(set)
  return call('ZRANGE', PREFIX .. set, '-inf', format('%.0f', NOW), 'BYSCORE', 'LIMIT', 0, ARGV[3])
end
local expired, forgotten = due('expiry'), due('late')
if #expired + #forgotten == 0 then return { 0, NOW - SHIFT, {}, {}, {} } end
keep_clock()

local aside = {}
local function set_aside(op, text)
  aside[#aside + 1] = op
  local key = PREFIX .. 'aside'
  if call('HLEN', key) < ASIDE_MAX then
    call('HSET', key, op, text)
    call('PEXPIRE', key, ASIDE_TTL_MS)
  end
end

-- A line that cannot be read stops neither the other organizations nor the leases that are no waiters.
local broken = {}
local function in_line(org, change)
  if broken[org] then return end
  local is_done, why = pcall(change)
  if not is_done then broken[org] = type(why) == 'table' and why.err or tostring(why) end
end

local orgs, seen = {}, {}
local function expire(op, lease)
  local draft, candidate
  if lease.state == 'dispatched' then draft, candidate = lease.draft, lease.candidate
  elseif lease.tried then draft, candidate = lease.tried[1], lease.tried[2] end
  if draft then call('XADD', PREFIX .. 'usage', '*', 'x', draft, 'c', candidate) end
  if lease.state == 'dispatched' then
    make_late(lease, function(org, window) in_line(org, function() touch(org, window) end) end)
  else
    if lease.state == 'waiting' then in_line(lease.org, function() leave(lease.org, op) end) end
    forget(op)
  end
  if lease.org and not seen[lease.org] then
    seen[lease.org] = true
    orgs[#orgs + 1] = lease.org
  end
end

-- A lease of the first format: a key of its own. Its gateway has ended, and its windows are not read any more: only its row is left to write.
local function expire_first_format(op)
  local key = PREFIX .. 'lease:' .. op
  local text = call('GET', key)
  if not text then return end
  local is_read, lease = pcall(unpack_value, text)
  if not is_read or type(lease) ~= 'table' then return set_aside(op, text), call('DEL', key) end
  local draft, candidate = lease.draft, lease.candidate
  if lease.state ~= 'dispatched' then
    local tried = type(lease.tried) == 'table' and lease.tried or {}
    draft, candidate = tried[1], tried[2]
  end
  if draft then call('XADD', PREFIX .. 'usage', '*', 'x', draft, 'c', candidate) end
  call('DEL', key)
end

for _, op in ipairs(expired) do
  local lease = lease_of(op)
  if lease and lease.state ~= 'late' then
    expire(op, lease)
  else
    if not lease then expire_first_format(op) end
    if unreadable[op] then set_aside(op, unreadable[op]) end
    -- A late lease is not in `expiry`: something else put it there.
    if lease then call('ZREM', PREFIX .. 'expiry', op) else forget(op) end
  end
end
for _, op in ipairs(forgotten) do
  local lease = lease_of(op)
  if lease and lease.state ~= 'late' then call('ZREM', PREFIX .. 'late', op) else
    stored_late[op] = true
    forget(op)
  end
end
for _, org in ipairs(orgs) do
  in_line(org, function()
    if line_exists(org) then step(org) end
  end)
end
write_all(broken)
local unread = {}
for org, why in pairs(broken) do unread[#unread + 1] = { org, why } end
return { #expired, NOW - SHIFT, tell_releases(ARGV[2]), aside, unread }
