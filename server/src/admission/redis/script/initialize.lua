-- ARGV: time or '', organization, then for each amount of a window: policy, metric, period, start, amount. A calendar window has one, a short window any
-- number. Existing windows stay as they are, so several gateways may do this concurrently. The time becomes the mark of a calendar window.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local new = {}
for index = 3, #ARGV, 5 do
  local window = window_for(ARGV[2], ARGV[index], ARGV[index + 1], ARGV[index + 2])
  if not window.known then
    window.known, window.dirty, new[window] = true, true, true
    if not window.sliding then window.mark = NOW end
  end
  -- The clock of the gateway that wrote the row may be ahead.
  if new[window] then spend(window, min(NOW, tonumber(ARGV[index + 3]) + SHIFT), tonumber(ARGV[index + 4])) end
end
keep_clock()
write_windows()
return 1
