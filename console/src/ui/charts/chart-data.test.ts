import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type ChartSeries, foldSeries, rowsOf, ticksOf, valueIn } from './chart-data.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour)).toISOString();
const series = (key: string, ...values: (number | null)[]): ChartSeries => ({
  key,
  label: key.toUpperCase(),
  points: values.map((value, hour) => ({ at: at(hour), value })),
});
const many = Array.from({ length: 12 }, (_, index) => series(`k${index}`, index, 1));

describe('chart data', () => {
  it('beyond eight series, the smallest are summed', () => {
    const { drawn, left } = foldSeries([series('other', 5, 5), ...many], 'bar', 'Other');
    assert.equal(drawn.length, 8);
    assert.equal(left, 0);
    assert.deepEqual(
      drawn.map(({ key }) => key),
      ['k5', 'k6', 'k7', 'k8', 'k9', 'k10', 'k11', 'other'],
    );
    const rows = rowsOf(drawn);
    const total = rows.map((row) => drawn.reduce((sum, { column }) => sum + (valueIn(row, column) ?? 0), 0));
    assert.deepEqual(total, [66 + 5, 12 + 5]);
  });

  it('lines are not summed: the largest are drawn and the others counted', () => {
    const { drawn, left } = foldSeries(many, 'line', 'Other');
    assert.deepEqual([drawn.length, left], [8, 4]);
    assert.ok(drawn.every(({ key }) => key !== 'other'));
  });

  it('states have fixed colors, other series the palette in order', () => {
    const { drawn } = foldSeries([{ ...series('failed', 1), tone: 'bad' }, series('a', 1)], 'area', 'Other');
    assert.deepEqual(
      drawn.map(({ colour }) => colour),
      ['var(--chart-bad)', 'var(--series-1)'],
    );
  });

  it('missing values stay missing, and every time occurs once and in order', () => {
    const { drawn } = foldSeries([series('a', 1, null), series('b', 2, 3, 4)], 'line', 'Other');
    const rows = rowsOf(drawn);
    assert.deepEqual(
      rows.map((row) => drawn.map(({ column }) => valueIn(row, column))),
      [
        [1, 2],
        [null, 3],
        [null, 4],
      ],
    );
  });

  it('an axis has few ticks for every bucket width', () => {
    for (const count of [1, 25, 169, 720]) {
      const { drawn } = foldSeries([series('a', ...Array.from({ length: count }, () => 1))], 'bar', 'Other');
      const ticks = ticksOf(rowsOf(drawn), 'hour', 12);
      assert.ok(ticks.length >= 1 || count < 2, String(count));
      assert.ok(ticks.length <= 16, `${count}: ${ticks.length}`);
    }
  });
});

describe('chart colors', () => {
  const css = readFileSync(join(import.meta.dirname, '../../styles.css'), 'utf8');
  const [light = '', dark = ''] = css.split('[data-theme="dark"]');
  const lightnessOf = (theme: string, name: string) =>
    Number(new RegExp(`--${name}: oklch\\(([\\d.]+)`).exec(theme)?.[1]);

  for (const [name, theme] of Object.entries({ light, dark })) {
    it(`neighbors in the ${name} theme differ in lightness, for color-blind users`, () => {
      for (let place = 1; place < 8; place += 1) {
        const apart = Math.abs(
          lightnessOf(theme, `series-${place}`) - lightnessOf(theme, `series-${place + 1}`),
        );
        assert.ok(apart >= 0.1, `series ${place} and ${place + 1} are ${apart} apart`);
      }
      const states = Math.abs(lightnessOf(theme, 'chart-good') - lightnessOf(theme, 'chart-bad'));
      assert.ok(states >= 0.1, `good and bad are ${states} apart`);
    });

    it(`every color has contrast with the panel of the ${name} theme`, () => {
      const panel = luminanceOf(theme, 'panel');
      const names = [...Array.from({ length: 8 }, (_, index) => `series-${index + 1}`), 'series-other'];
      for (const each of [...names, 'chart-good', 'chart-warn', 'chart-bad', 'chart-neutral']) {
        const own = luminanceOf(theme, each);
        const contrast = (Math.max(own, panel) + 0.05) / (Math.min(own, panel) + 0.05);
        assert.ok(contrast >= 3, `${each} has a contrast of ${contrast.toFixed(2)}`);
      }
    });
  }
});

/** The relative luminance of WCAG, from linear sRGB. */
function luminanceOf(theme: string, name: string): number {
  const found = new RegExp(`--${name}: oklch\\(([\\d.]+) ([\\d.]+) ([\\d.]+)`).exec(theme);
  const [lightness = 0, chroma = 0, degrees = 0] = found?.slice(1).map(Number) ?? [];
  const hue = (degrees * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short;
  const green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short;
  const blue = -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short;
  const seen = (channel: number) => Math.min(1, Math.max(0, channel));
  return 0.2126 * seen(red) + 0.7152 * seen(green) + 0.0722 * seen(blue);
}
