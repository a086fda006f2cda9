-- ARGV: time or '', operation, dispatched (1 or 0), tokens, spend, record
local now = time_ms(ARGV[1])
local op = ARGV[2]
local lease = read_lease(op)
call('XADD', PREFIX .. 'usage', '*', 'r', ARGV[6])
if not lease then return 'unknown' end
local actual = { dispatched = ARGV[3] == '1', tokens = tonumber(ARGV[4]), spend = tonumber(ARGV[5]) }
give_back(op, lease, actual, now)
write_windows(now)
keep_time(now)
return 'settled'
