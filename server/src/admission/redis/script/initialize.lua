-- ARGV: time or '', organization, then for each window: policy, metric, period, start, amount
-- Existing windows stay as they are, so several gateways may do this concurrently. The time becomes the window's mark.
local now = time_ms(ARGV[1])
local org = ARGV[2]
for index = 3, #ARGV, 5 do
  local key = window_key(org, ARGV[index], ARGV[index + 1], ARGV[index + 2])
  local start, amount = tonumber(ARGV[index + 3]), tonumber(ARGV[index + 4])
  local entries = amount > 0 and struct_pack(NUMBERS, start, amount) or ''
  local ttl = max(1, next_window(ARGV[index + 2], now) - now) + DAY_MS
  call('SET', key, encode_window(now, max(0, amount), entries), 'NX', 'PX', string.format('%.0f', ttl))
end
return 1
