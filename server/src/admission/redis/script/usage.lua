-- ARGV: time or '', organization, then for each policy: id, metric, period
-- Returns for each: used, reserved, milliseconds until the window is empty, and the mark of a calendar window that is known.
local now = time_ms(ARGV[1])
local org = ARGV[2]
local answer = {}
for index = 3, #ARGV, 3 do
  local id, metric, period = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  local used, reserved, reset, mark = 0, 0, 0, ''
  if period == 'none' then used = call('SCARD', holders_key(org, id))
  else
    local window = window_of(org, id, metric, period)
    used, reserved, reset = usage_of(window, now)
    if window.known and not BUCKET_MS[period] then mark = string.format('%.0f', window.pace) end
  end
  answer[#answer + 1] = used
  answer[#answer + 1] = reserved
  answer[#answer + 1] = reset
  answer[#answer + 1] = mark
end
return answer
