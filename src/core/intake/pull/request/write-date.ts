import type { EpochMs, Json } from '../../../../terms.ts';
import type { RequestTemplate } from '../../../documents/pull.ts';

/** {window.from:DD/MM/YYYY}: a placeholder with the partner's own notation of a date. */
const formatted = /\{(window\.(?:from|to)(?:_utc)?|window\.(?:before|after)|(?:since|now)(?:_utc)?):([^{}]+)\}/g;

/** Every formatted placeholder of a request, such as window.from:DD/MM/YYYY. */
export function formattedPlaceholders(
  template: RequestTemplate | undefined,
): readonly (readonly [name: string, format: string])[] {
  if (template === undefined) return [];
  const texts: string[] = [];
  const collect = (value: Json): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect([template.path, { ...template.query }, { ...template.body }, { ...template.headers }]);
  const placeholders = texts.flatMap((text) => [...text.matchAll(formatted)]);
  return placeholders.map(([, name = '', format = '']) => [name, format]);
}

type Zoned = Temporal.ZonedDateTime;

const monthNames = 'January February March April May June July August September October November December'.split(' ');
const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');

const parts: readonly (readonly [name: string, write: (at: Zoned) => string])[] = [
  ['YYYY', (at) => pad(at.year, 4)],
  ['YY', (at) => pad(at.year % 100)],
  ['MMMM', (at) => monthNames[at.month - 1] ?? ''],
  ['MMM', (at) => (monthNames[at.month - 1] ?? '').slice(0, 3)],
  ['MM', (at) => pad(at.month)],
  ['M', (at) => String(at.month)],
  ['DD', (at) => pad(at.day)],
  ['D', (at) => String(at.day)],
  ['HH', (at) => pad(at.hour)],
  ['H', (at) => String(at.hour)],
  ['hh', (at) => pad(at.hour % 12 || 12)],
  ['h', (at) => String(at.hour % 12 || 12)],
  ['mm', (at) => pad(at.minute)],
  ['ss', (at) => pad(at.second)],
  ['SSS', (at) => pad(at.millisecond, 3)],
  ['A', (at) => (at.hour < 12 ? 'AM' : 'PM')],
  ['Z', (at) => at.offset],
];

/**
 * The moment in the partner's notation: the parts that the mapping reads, text in [brackets], or iso; epoch_s and epoch_ms are numbers, so that
 * a JSON body carries a number.
 */
export function writeDate(moment: EpochMs, format: string, timezone: string): string | number {
  const at = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timezone);
  if (format === 'epoch_s') return Math.floor(moment / 1000);
  if (format === 'epoch_ms') return moment;
  if (format === 'iso') return at.toPlainDate().toString();
  let text = '';
  for (let i = 0; i < format.length; ) {
    const literal = /^\[([^\]]*)\]/.exec(format.slice(i));
    const part = parts.find(([name]) => format.startsWith(name, i));
    if (literal) {
      text += literal[1] ?? '';
      i += literal[0].length;
    } else if (part) {
      text += part[1](at);
      i += part[0].length;
    } else {
      text += format[i] ?? '';
      i++;
    }
  }
  return text;
}
