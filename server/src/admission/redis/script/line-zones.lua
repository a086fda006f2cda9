-- Zones of a plan that are known to be full: a search for the latest moment passes them in one step instead of bucket by bucket. What
-- is reserved makes a zone only fuller. What is given back cuts it, and another limit ends it.
--
-- w.zones: kind → zones { first, last, cost }, for costs of at least that much. A kind is what was looked at and by which class: `run` for
-- every run that contains a place, `cell` for cells of an even plan.
local ZONES_MAX = 6

local function zones_of(w, kind)
  if w.zones.limit ~= w.limit then w.zones = { limit = w.limit } end
  local zones = w.zones[kind]
  if not zones then
    zones = {}
    w.zones[kind] = zones
  end
  return zones
end

-- The first place of the zone that this place is in; nil when it may have room.
local function full_since(w, kind, place, cost)
  for _, zone in ipairs(zones_of(w, kind)) do
    if zone[1] <= place and place <= zone[2] and cost >= zone[3] then return zone[1] end
  end
  return nil
end

-- Notes that nothing of this cost fits from one place to another.
local function note_full(w, kind, first, last, cost)
  local zones, kept = zones_of(w, kind), {}
  for _, zone in ipairs(zones) do
    if zone[3] == cost and zone[1] <= last + 1 and zone[2] >= first - 1 then
      first, last = min(first, zone[1]), max(last, zone[2])
    elseif zone[3] < cost or zone[1] < first or zone[2] > last then
      kept[#kept + 1] = zone
    end
  end
  kept[#kept + 1] = { first, last, cost }
  if #kept > ZONES_MAX then
    local least = 1
    for at, zone in ipairs(kept) do
      if zone[2] - zone[1] < kept[least][2] - kept[least][1] then least = at end
    end
    table.remove(kept, least)
  end
  w.zones[kind], w.zones_changed = kept, true
end

-- Something was given back between two places.
local function cut_zones(w, kind_start, first, last)
  for kind, zones in pairs(w.zones) do
    if kind ~= 'limit' and sub(kind, 1, #kind_start) == kind_start then
      local kept = {}
      for _, zone in ipairs(zones) do
        if zone[2] < first or zone[1] > last then kept[#kept + 1] = zone
        else
          if zone[1] < first then kept[#kept + 1] = { zone[1], first - 1, zone[3] } end
          if zone[2] > last then kept[#kept + 1] = { last + 1, zone[2], zone[3] } end
        end
      end
      w.zones[kind] = kept
    end
  end
end
