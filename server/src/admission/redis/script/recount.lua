-- ARGV: time or '', gateway, organization, then for each calendar window: policy, metric, period, start, amount, mark
-- A window with another mark was started or recounted meanwhile and stays as it is. Returns what step.lua does, and how many were changed.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local org, changed = ARGV[3], 0
for index = 4, #ARGV, 6 do
  local window, mark = window_for(org, ARGV[index], ARGV[index + 1], ARGV[index + 2]), tonumber(ARGV[index + 5])
  if window.known and window.mark == mark then
    spend(window, tonumber(ARGV[index + 3]) + SHIFT, tonumber(ARGV[index + 4]))
    window.mark, window.dirty = max(NOW, mark + 1), true
    changed = changed + 1
    if line_exists(org) then touch(org, window) end
  end
end
keep_clock()
if changed > 0 and line_exists(org) then step(org) end
write_all()
return { NOW - SHIFT, tell_releases(ARGV[2]), next_in(org), 1, changed }
