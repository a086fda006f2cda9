-- The end of every script that may move a line: it writes what changed, and tells gateways which of their waiters go.

-- Milliseconds until the line has something to do, -1 when no request waits.
local function next_in(org)
  if not line_exists(org) then return -1 end
  return max(0, next_ms(org) - NOW)
end

-- Tells other gateways of their waiters, and returns what is for this one: { operation, answer… }.
local function tell_releases(gateway)
  local own = {}
  for _, release in ipairs(releases) do
    local op, to, answer = release[1], release[2], release[3]
    local told = { op }
    for index, value in ipairs(answer) do told[index + 1] = type(value) == 'number' and format('%.0f', value) or value end
    if to == gateway then
      own[#own + 1] = told
    else
      call('SPUBLISH', PREFIX .. 'wake:' .. to, format('%.0f', NOW - SHIFT) .. '\n' .. table.concat(told, '\n'))
    end
  end
  return own
end

-- Heads first: the clock before it was the first write, so that a server without memory has refused by now.
local function write_all(skipped)
  write_windows()
  flush_leases()
  flush_line(skipped)
end
