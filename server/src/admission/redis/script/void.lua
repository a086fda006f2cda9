-- ARGV: time or '', operation
local now = time_ms(ARGV[1])
local lease = read_lease(ARGV[2])
if not lease then return 0 end
give_back(ARGV[2], lease, nil, now)
if lease.tried then keep_tried(ARGV[2], lease, lease.tried, lease.expires) end
write_windows(now)
keep_time(now)
return 1
