-- ARGV: time or '', organization, how many leases may be read, then for each policy: id, metric, period
-- Returns for each what its window has used, and how much of that requests in flight were charged and may still give back; both at one moment. Returns
-- nothing when there are too many leases, or one of a failed attempt, whose use is in no lease.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local org, leases_max = ARGV[2], tonumber(ARGV[3])
if call('ZCARD', PREFIX .. 'expiry') > leases_max then return {} end
local charged = {}
for _, op in ipairs(call('ZRANGE', PREFIX .. 'expiry', 0, -1)) do
  local lease = lease_of(op)
  if lease and lease.org == org and lease.state ~= 'waiting' then
    if lease.tried or lease.attempt or lease.state ~= 'dispatched' then return {} end
    local shape = shape_of(lease.shape, lease.at)
    if not shape then return {} end
    for position = 2, #shape, 4 do
      local key, column = shape[position], shape[position + 3]
      charged[key] = (charged[key] or 0) + cost_of(lease.costs, { column = column })
    end
  end
end
local answer = {}
for index = 4, #ARGV, 3 do
  local id, metric, period = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  local used = usage_of(window_for(org, id, metric, period))
  answer[#answer + 1] = format('%.0f', used)
  answer[#answer + 1] = format('%.0f', charged[id .. ':' .. metric .. ':' .. period] or 0)
end
return answer
