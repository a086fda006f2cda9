-- ARGV: time or '', how many leases to end at most
-- Voids waiting leases. Dispatched leases, and attempts that were sent before an operation waited again, stay charged at
-- their estimate and go to the usage stream marked so.
local now = time_ms(ARGV[1])
local expired = call('ZRANGE', PREFIX .. 'expiry', '-inf', string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, ARGV[2])
if #expired == 0 then return 0 end
for _, op in ipairs(expired) do
  local lease = read_lease(op)
  if lease then
    if lease.state == 'dispatched' then
      call('XADD', PREFIX .. 'usage', '*', 'x', lease.draft, 'c', lease.candidate)
      lease.postings = {}
    elseif lease.tried then
      call('XADD', PREFIX .. 'usage', '*', 'x', lease.tried[1], 'c', lease.tried[2])
    end
    give_back(op, lease, nil, now)
  else
    call('ZREM', PREFIX .. 'expiry', op)
  end
end
write_windows(now)
keep_time(now)
return #expired
