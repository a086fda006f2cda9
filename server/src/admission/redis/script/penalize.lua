-- ARGV: time or '', organization, endpoint, for how many milliseconds
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local SLACK_MS = 60000
local until_ms = max(NOW + tonumber(ARGV[4]), cooldown_of(ARGV[2], ARGV[3]))
local ttl = format('%.0f', max(1, until_ms - NOW) + SLACK_MS)
keep_clock()
call('SET', PREFIX .. ARGV[2] .. ':cooldown:' .. ARGV[3], format('%.0f', until_ms), 'PX', ttl)
return 1
