-- ARGV: time or '', organization, operation, lease, draft, candidate (from 0), age, attempts before, name of its shape, number of costs, costs…, number of
--   windows of all candidates, for each: policy, metric, period; then the charges of the candidate: policy, metric, period, which cost
-- Writes an operation again that is in flight, so no limit is checked; one whose lease ran out is charged already. Returns 0 when its windows have to be rebuilt first.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local org, op, attempt = ARGV[2], ARGV[3], ARGV[8] ~= '0' and tonumber(ARGV[8]) or nil
local held = lease_of(op)
if held and held.state == 'late' then
  keep_clock()
  revive(held, ARGV[5], attempt, NOW + tonumber(ARGV[4]))
  write_windows()
  flush_leases()
end
if held and held.state ~= 'tried' then return 1 end
local costs, at = {}, 11
for index = 1, tonumber(ARGV[10]) do costs[index] = tonumber(ARGV[at + index - 1]) end
at = at + #costs
local count = tonumber(ARGV[at])
at = at + 1
for _ = 1, count do
  local window = window_for(org, ARGV[at], ARGV[at + 1], ARGV[at + 2])
  if not window.known and (SHORT_UNKNOWN or not window.sliding) then return 0 end
  at = at + 3
end
local index, charges = tonumber(ARGV[6]) + 1, {}
for position = at, #ARGV, 4 do
  local id, metric, period = ARGV[position], ARGV[position + 1], ARGV[position + 2]
  local key = id .. ':' .. metric .. ':' .. period
  charges[#charges + 1] = { key = key, id = id, metric = metric, period = period, column = tonumber(ARGV[position + 3]) }
end
SEQUENCE = SEQUENCE + 1
keep_clock()
local entry = { op = op, org = org, sequence = SEQUENCE, draft = ARGV[5], attempt = attempt }
entry.candidates, entry.costs = { [index] = { shape = ARGV[9], charges = charges } }, { [index] = costs }
dispatch(entry, index, NOW - tonumber(ARGV[7]), NOW + tonumber(ARGV[4]))
write_windows()
flush_leases()
return 1
