-- ARGV: time or '', organization, then operations
-- Returns for each, in how many milliseconds it can go; -1 when that is unknown, or when it does not wait. Writes nothing.
read_clock(ARGV[1], call('GET', PREFIX .. 'clock'))
local ops = {}
for index = 3, #ARGV do ops[index - 2] = ARGV[index] end
return next_slots(ARGV[2], ops)
