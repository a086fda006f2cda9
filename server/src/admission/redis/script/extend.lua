-- ARGV: time or '', lease in milliseconds, operations…
-- Answers the operations that have no lease.
local now = time_ms(ARGV[1])
local expires = now + tonumber(ARGV[2])
local unknown = {}
for index = 3, #ARGV do
  -- GT: a heartbeat that was late on the way never shortens a lease. CH tells nothing about members that exist.
  if call('ZSCORE', PREFIX .. 'expiry', ARGV[index]) then
    call('ZADD', PREFIX .. 'expiry', 'GT', expires, ARGV[index])
  else
    unknown[#unknown + 1] = ARGV[index]
  end
end
keep_time(now)
return unknown
