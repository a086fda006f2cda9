-- ARGV: time or '', gateway, organization, version of the configuration, then for each limit: policy, limit ('' for none)
-- What limits are by now, for those who wait. Returns what step.lua does.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local org = ARGV[3]
if line_exists(org) then
  local changes = {}
  for index = 5, #ARGV, 2 do changes[#changes + 1] = { id = ARGV[index], limit = tonumber(ARGV[index + 1]) } end
  keep_clock()
  change_limits(org, tonumber(ARGV[4]), changes)
  step(org)
  write_all()
end
return { NOW - SHIFT, tell_releases(ARGV[2]), next_in(org), 1 }
