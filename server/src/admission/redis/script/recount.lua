-- ARGV: time or '', organization, then for each calendar window: policy, metric, period, start, amount, mark
-- A window with another mark was started or recounted meanwhile and stays as it is. Returns how many were changed.
local now = time_ms(ARGV[1])
local org = ARGV[2]
local changed = 0
for index = 3, #ARGV, 6 do
  local window = window_of(org, ARGV[index], ARGV[index + 1], ARGV[index + 2])
  local mark = tonumber(ARGV[index + 5])
  if window.known and window.pace == mark then
    add(window, tonumber(ARGV[index + 3]), tonumber(ARGV[index + 4]))
    window.pace, window.dirty = max(now, mark + 1), true
    changed = changed + 1
  end
end
write_windows(now)
keep_time(now)
return changed
