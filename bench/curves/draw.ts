/** Draws a measured curve as SVG, for light and dark pages. */
export interface Curve {
  readonly title: string;
  /** The horizontal axis is logarithmic. */
  readonly x: string;
  readonly y: string;
  /** When and where it was measured, with the machine's load. */
  readonly measured: string;
  readonly note?: string;
  readonly series: readonly { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] }[];
}

const width = 760;
const height = 420;
const plot = { left: 76, right: 130, top: 64, bottom: 104 };

export function draw(curve: Curve): string {
  const all = curve.series.flatMap(({ points }) => points);
  const xs = [...new Set(all.map(([x]) => x))].sort((a, b) => a - b);
  const step = niceStep(Math.max(...all.map(([, y]) => y)) / 5);
  const top = step * Math.ceil(Math.max(...all.map(([, y]) => y)) / step);
  const [least = 1, most = 1] = [xs[0], xs.at(-1)];
  const across = (x: number) =>
    round(plot.left + ((width - plot.left - plot.right) * Math.log(x / least)) / Math.log(most / least));
  const up = (y: number) => round(height - plot.bottom - ((height - plot.top - plot.bottom) * y) / top);
  const rows = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
  const lines = [
    ...rows.map(
      (y) =>
        `<path class="grid" d="M${plot.left} ${up(y)}H${width - plot.right}"/><text class="dim" text-anchor="end" x="${plot.left - 8}" y="${up(y) + 4}">${show(y)}</text>`,
    ),
    ...xs.map(
      (x) =>
        `<path class="grid" d="M${across(x)} ${height - plot.bottom}v5"/><text class="dim" text-anchor="middle" x="${across(x)}" y="${height - plot.bottom + 20}">${show(x)}</text>`,
    ),
    ...labelled(curve, (y) => up(y)).flatMap(({ name, points, labelAt }, i) => {
      const [endX = 0] = points.at(-1) ?? [];
      const trail = points.map(([x, y]) => `${across(x)} ${up(y)}`).join('L');
      return [
        `<path class="s${i}" d="M${trail}"/>`,
        ...points.map(([x, y]) => `<circle class="p${i}" cx="${across(x)}" cy="${up(y)}" r="4"/>`),
        `<text class="t${i}" x="${across(endX) + 10}" y="${labelAt + 4}">${escaped(name)}</text>`,
      ];
    }),
    `<text class="ink" font-weight="600" font-size="16" x="24" y="30">${escaped(curve.title)}</text>`,
    `<text class="dim" x="24" y="50">${escaped(curve.y)}</text>`,
    `<text class="dim" text-anchor="middle" x="${round((plot.left + width - plot.right) / 2)}" y="${height - 62}">${escaped(curve.x)}</text>`,
    `<text class="dim" font-size="11" x="24" y="${height - 34}">${escaped(curve.measured)}</text>`,
    ...(curve.note === undefined
      ? []
      : [`<text class="dim" font-size="11" x="24" y="${height - 16}">${escaped(curve.note)}</text>`]),
  ];
  const said = curve.series.map(
    ({ name, points }) => `${name}: ${points.map(([x, y]) => `${show(y)} at ${show(x)}`).join(', ')}.`,
  );
  const description = `${curve.y}, against ${curve.x}. ${said.join(' ')} ${curve.measured}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">
<title id="t">${escaped(curve.title)}</title>
<desc id="d">${escaped(description)}</desc>
<style>
.paper{fill:#fbf8f1}.ink{fill:#1f2a44}.dim{fill:#5c6477}.grid{stroke:#d9d4c5;fill:none}
.s0,.s1,.s2{fill:none;stroke-width:2}.s0{stroke:#1f4e9c}.s1{stroke:#a33b2e;stroke-dasharray:7 4}.s2{stroke:#7a5a10;stroke-dasharray:2 4}
.p0,.t0{fill:#1f4e9c}.p1,.t1{fill:#a33b2e}.p2,.t2{fill:#7a5a10}
@media (prefers-color-scheme: dark){
.paper{fill:#141927}.ink{fill:#e8ebf4}.dim{fill:#9aa4bd}.grid{stroke:#333c54}
.s0{stroke:#8db4f5}.s1{stroke:#e08a7d}.s2{stroke:#d9b45b}.p0,.t0{fill:#8db4f5}.p1,.t1{fill:#e08a7d}.p2,.t2{fill:#d9b45b}}
</style>
<rect class="paper" width="${width}" height="${height}" rx="14"/>
${lines.join('\n')}
</svg>
`;
}

/** Labels stand beside the last points, at least a line apart. */
function labelled(curve: Curve, up: (y: number) => number) {
  const series = curve.series.map((one) => ({ ...one, labelAt: up(one.points.at(-1)?.[1] ?? 0) }));
  const byHeight = [...series].sort((a, b) => a.labelAt - b.labelAt);
  for (const [i, one] of byHeight.entries()) {
    const above = byHeight[i - 1];
    if (above) one.labelAt = Math.max(one.labelAt, above.labelAt + 16);
  }
  return series;
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
}

const round = (value: number) => Math.round(value * 10) / 10;
const show = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 3 });
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
