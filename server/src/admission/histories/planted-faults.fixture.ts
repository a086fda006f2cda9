/** A deliberate fault in the text of a script, which the histories have to catch. */
export interface PlantedFault {
  readonly name: string;
  readonly plant: (text: string) => string;
}

function replacing(name: string, from: string, to: string): PlantedFault {
  return {
    name,
    plant(text) {
      // Scripts without this text stay as they are.
      return text.replaceAll(from, to);
    },
  };
}

export const PLANTED: readonly PlantedFault[] = [
  replacing(
    'a failed attempt forgotten when its gateway dies',
    'elseif lease.tried then',
    'elseif false then',
  ),
  replacing(
    'a lease without charges that overtakes its queue',
    "':queue:' .. ARGV[4]) == 0 then",
    "':queue:' .. ARGV[4]) >= 0 then",
  ),
  replacing('a window off by one', 'minute = 122', 'minute = 121'),
  replacing(
    'a refund to the wrong bucket',
    'add(window, place, -max(0, cost - used))',
    'add(window, bucket_ms and floor(now / bucket_ms) or window_start(period, now), -max(0, cost - used))',
  ),
  replacing(
    'a write before the check',
    'local kind, chosen, slot, policy = choose(placements)',
    'if #candidates[1].charges > 0 then post({ candidates[1].charges[1] }, now) end\n  local kind, chosen, slot, policy = choose(placements)',
  ),
];
