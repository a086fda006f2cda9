-- ARGV: time or '', lease in milliseconds, operations…
-- Returns the operations without a lease.
local now = time_ms(ARGV[1])
local expires = now + tonumber(ARGV[2])
local unknown = {}
for index = 3, #ARGV do
  -- GT: a heartbeat that arrives late never shortens a lease. ZADD's reply does not tell whether the member exists.
  if call('ZSCORE', PREFIX .. 'expiry', ARGV[index]) then
    call('ZADD', PREFIX .. 'expiry', 'GT', expires, ARGV[index])
  else
    unknown[#unknown + 1] = ARGV[index]
  end
end
keep_time(now)
return unknown
