-- ARGV: time or '', organization, operation, then for each use: policy, metric, period, age, amount
-- Restores past usage of failed attempts, once for each operation of an epoch, because a call whose reply was lost may be repeated. Returns 0 if the
-- windows have to be rebuilt first.
local RESTORED_TTL_MS = '3600000'
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local org, op, restored = ARGV[2], ARGV[3], PREFIX .. 'restored'
if call('SISMEMBER', restored, op) == 1 then return 1 end
for index = 4, #ARGV, 5 do
  local window = window_for(org, ARGV[index], ARGV[index + 1], ARGV[index + 2])
  if not window.known and (SHORT_UNKNOWN or not window.sliding) then return 0 end
end
keep_clock()
for index = 4, #ARGV, 5 do
  local window = window_for(org, ARGV[index], ARGV[index + 1], ARGV[index + 2])
  spend(window, NOW - tonumber(ARGV[index + 3]), tonumber(ARGV[index + 4]))
end
write_windows()
call('SADD', restored, op)
call('PEXPIRE', restored, RESTORED_TTL_MS)
return 1
