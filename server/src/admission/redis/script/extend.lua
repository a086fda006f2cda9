-- ARGV: time or '', lease in milliseconds, operations…
-- Returns the operations without a lease.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local expires = format('%.0f', NOW + tonumber(ARGV[2]))
local unknown, known = {}, {}
keep_clock()
-- ZADD's reply does not tell which members exist.
local scores = call('ZMSCORE', PREFIX .. 'expiry', unpack(ARGV, 3))
for index, score in ipairs(scores) do
  local op = ARGV[index + 2]
  if score then
    known[#known + 1] = expires
    known[#known + 1] = op
  else
    unknown[#unknown + 1] = op
  end
end
-- GT: a heartbeat that arrives late never shortens a lease.
if #known > 0 then call('ZADD', PREFIX .. 'expiry', 'GT', unpack(known)) end
return unknown
