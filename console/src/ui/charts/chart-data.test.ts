import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { axisWidthPx, type ChartSeries, foldSeries, rowsOf, ticksOf, valueIn } from './chart-data.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour)).toISOString();
const series = (key: string, ...values: (number | null)[]): ChartSeries => ({
  key,
  label: key.toUpperCase(),
  points: values.map((value, hour) => ({ at: at(hour), value })),
});
const many = Array.from({ length: 12 }, (_, index) => series(`k${index}`, index, 1));

describe('chart data', () => {
  it('the value axis has room for its longest label, and the same room in charts with short ones', () => {
    const width = (format: (value: number) => string, ...values: (number | null)[]) => {
      const { drawn } = foldSeries([series('a', ...values)], 'line', 'Other');
      return axisWidthPx(rowsOf(drawn), drawn, 'line', format);
    };
    assert.equal(
      width(String, null, null),
      width((value) => `${value} ms`, 40),
    );
    assert.ok(width((value) => `${value} million`, 40) > width(String, 40));
  });

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

describe('the colors', () => {
  const css = readFileSync(join(import.meta.dirname, '../../styles.css'), 'utf8');
  const [light = '', dark = ''] = css.split('[data-theme="dark"]');
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

    it(`text has a contrast of 4.5:1 with every surface of the ${name} theme`, () => {
      const texts = ['ink', 'ink-soft', 'ink-faint', 'good', 'warn', 'bad', 'wait-ink', 'off'];
      for (const each of texts)
        for (const surface of ['canvas', 'panel', 'sunken', 'hover']) {
          const contrast = contrastOf(theme, each, surface);
          assert.ok(contrast >= 4.5, `${each} on ${surface} has a contrast of ${contrast.toFixed(2)}`);
        }
      // Yellow is close to paper, so a yellow shape has an edge.
      assert.ok(contrastOf(theme, 'wait-edge', 'canvas') >= 3);
    });

    it(`every color has contrast with the panel of the ${name} theme`, () => {
      const names = [...Array.from({ length: 8 }, (_, index) => `series-${index + 1}`), 'series-other'];
      for (const each of [...names, 'chart-good', 'chart-warn', 'chart-bad', 'chart-neutral']) {
        const contrast = contrastOf(theme, each, 'panel');
        assert.ok(contrast >= 3, `${each} has a contrast of ${contrast.toFixed(2)}`);
      }
    });
  }
});

/** Linear sRGB of a color such as `#2450c4`. */
function linearOf(theme: string, name: string): readonly [number, number, number] {
  const found = new RegExp(`--${name}: #(..)(..)(..);`).exec(theme);
  const [red = 0, green = 0, blue = 0] = (found?.slice(1) ?? []).map((pair) => {
    const value = Number.parseInt(pair, 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  assert.notEqual(found, null, name);
  return [red, green, blue];
}

/** The lightness of OKLab. */
function lightnessOf(theme: string, name: string): number {
  const [red, green, blue] = linearOf(theme, name);
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short;
}

/** The relative luminance of WCAG. */
function luminanceOf(theme: string, name: string): number {
  const [red, green, blue] = linearOf(theme, name);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(theme: string, one: string, other: string): number {
  const [a, b] = [luminanceOf(theme, one), luminanceOf(theme, other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
