import { isObject, type Json } from '../../terms.ts';
import { type Path, parsePath, type Step } from './path.ts';

/** A path into an answer, a row or an event; $body, $item and $record at its start mean the value itself. */
export function parseAnswerPath(text: string): ReturnType<typeof parsePath> {
  return parsePath(text, { spaces: true });
}

/** Reads one value. Undefined if absent. A key with dots is also found as it is written: `@odata.nextLink`. */
export function pathReader(text: string): (body: Json) => Json | undefined {
  const steps = stepsOf(text)?.map((step) => ({ step, rest: text.slice(step.offset) }));
  if (steps === undefined) return () => undefined;
  return (body) => {
    let value: Json | undefined = body;
    for (const { step, rest } of steps) {
      if (value === undefined) return undefined;
      const whole = child(value, rest);
      if (whole !== undefined) return whole;
      value = step.kind === 'each' ? undefined : into(value, step);
    }
    return value;
  };
}

/** Every value at the path; lists inside the path are expanded item by item. */
export function pathWalker(text: string): (body: Json) => Json[] {
  const steps = stepsOf(text);
  if (steps === undefined) return () => [];
  return (body) =>
    steps.reduce<Json[]>((values, step) => values.flatMap((value) => walk(value, step)), [body]).flatMap(itemsOf);
}

const itself: ReadonlySet<Path['start']> = new Set(['item', 'record', 'body']);

function stepsOf(text: string): readonly Step[] | undefined {
  const parsed = parseAnswerPath(text);
  return parsed.kind === 'ok' && itself.has(parsed.path.start) && parsed.path.up === 0 ? parsed.path.steps : undefined;
}

function walk(value: Json, step: Step): Json[] {
  if (step.kind === 'each') return typeof value === 'object' && value !== null ? Object.values(value) : [];
  if (Array.isArray(value) && positionOf(step) === undefined) return value.flatMap((item) => walk(item, step));
  const next = into(value, step);
  return next === undefined ? [] : [next];
}

function itemsOf(value: Json): Json[] {
  return Array.isArray(value) ? value.flatMap(itemsOf) : [value];
}

type OneStep = Exclude<Step, { kind: 'each' }>;

function into(value: Json, step: OneStep): Json | undefined {
  if (!Array.isArray(value)) return child(value, String(step.kind === 'key' ? step.key : step.index));
  const position = positionOf(step);
  return position === undefined ? undefined : value.at(position);
}

/** In a list, a key that is a number is a position: `links.0.href`. */
function positionOf(step: OneStep): number | undefined {
  if (step.kind === 'index') return step.index;
  return /^-?\d+$/.test(step.key) ? Number(step.key) : undefined;
}

function child(value: Json, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
