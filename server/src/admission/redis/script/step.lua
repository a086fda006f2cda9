-- ARGV: time or '', gateway, organization
-- Moves the line. Returns the time, the releases for this gateway, when the line has something to do next (-1: no request waits), and 1 if the
-- step found something to do.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local org, moved = ARGV[3], false
if line_exists(org) then
  moved = step(org)
  keep_clock()
  write_all()
end
return { NOW - SHIFT, tell_releases(ARGV[2]), next_in(org), moved and 1 or 0 }
