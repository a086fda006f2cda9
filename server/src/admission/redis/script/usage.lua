-- ARGV: time or '', organization, then for each policy: id, metric, period
-- Returns for each: used, reserved, milliseconds until the window is empty, and the mark of a calendar window that is known.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local answer = {}
for index = 3, #ARGV, 3 do
  local period = ARGV[index + 2]
  local window = window_for(ARGV[2], ARGV[index], ARGV[index + 1], period)
  local used, reserved, reset = usage_of(window)
  local marked = window.known and not SPAN[period] and period ~= 'none'
  answer[#answer + 1] = used
  answer[#answer + 1] = reserved
  answer[#answer + 1] = reset
  answer[#answer + 1] = marked and format('%.0f', window.mark) or ''
end
return answer
