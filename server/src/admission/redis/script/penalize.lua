-- ARGV: time or '', organization, endpoint, for how many milliseconds
local now = time_ms(ARGV[1])
local key = cooldown_key(ARGV[2], ARGV[3])
local until_ms = max(now + tonumber(ARGV[4]), tonumber(call('GET', key) or 0))
call('SET', key, string.format('%.0f', until_ms), 'PX', string.format('%.0f', max(1, until_ms - now) + SLACK_MS))
keep_time(now)
return 1
