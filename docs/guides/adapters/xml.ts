/**
 * An adapter: bytes of a response in, JSON out. This one reads and writes plain XML without a library. Elements become keys, attributes
 * become '@name', text beside attributes becomes '#text', repeated elements become lists, empty ones become ''. Prefixes of namespaces are
 * left out, because a partner may change them.
 */
type Value = string | { [key: string]: Value | Value[] };

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export default function fromXml(bytes: Uint8Array): { [key: string]: Value | Value[] } {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  // A document type can define entities that expand without bound.
  if (text.includes('<!DOCTYPE')) throw new Error('document types are not supported');
  const token =
    /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([^\s/>]+)((?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/y;
  const root: Element = { name: '', attributes: {}, children: {}, text: '' };
  const open: Element[] = [root];
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw new Error(`not XML at character ${at}`);
    const [, cdata, closing, tag = '', attributes = '', empty, plain] = found;
    const name = withoutPrefix(tag);
    const element = open.at(-1) ?? root;
    if (cdata !== undefined) element.text += cdata;
    else if (plain !== undefined) element.text += decoded(plain);
    else if (name === '') continue;
    else if (closing === '/') close(open, name);
    else {
      open.push({ name, attributes: attributesOf(attributes), children: {}, text: '' });
      if (empty === '/') close(open, name);
    }
  }
  if (open.length > 1) throw new Error(`<${open.at(-1)?.name}> is not closed`);
  if (Object.keys(root.children).length === 0) throw new Error('the document has no element');
  return root.children;
}

/** Writes the body of a request, in the same form: { 'soap:Body': { Read: { '@Start': '2026-03-01' } } }. */
export function request(body: { readonly [key: string]: Json }) {
  return {
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${written(body)}`,
    headers: { 'Content-Type': 'text/xml; charset=utf-8', Accept: 'text/xml' },
  };
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

function written(value: Json): string {
  if (value === null || typeof value !== 'object') return escaped(value ?? '');
  if (Array.isArray(value)) throw new Error('a list needs the name of its elements');
  return Object.entries(value)
    .filter(([name]) => !name.startsWith('@'))
    .map(([name, inner]) => {
      if (name === '#text') return written(inner);
      return [inner]
        .flat()
        .map((one: Json) => element(name, one))
        .join('');
    })
    .join('');
}

function element(name: string, value: Json): string {
  const own = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const attributes = own.filter(([key]) => key.startsWith('@'));
  const start = attributes.map(([key, text]) => ` ${key.slice(1)}="${escaped(text as string)}"`).join('');
  const content = written(value);
  return content === '' ? `<${name}${start}/>` : `<${name}${start}>${content}</${name}>`;
}

function escaped(value: string | number | boolean): string {
  return String(value).replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? '&quot;');
}

interface Element {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: { [key: string]: Value | Value[] };
  text: string;
}

function close(open: Element[], name: string): void {
  const element = open.pop();
  const parent = open.at(-1);
  if (element === undefined || parent === undefined || element.name !== name)
    throw new Error(`</${name}> closes nothing`);
  const value = contentOf(element);
  const before = parent.children[name];
  if (before === undefined) parent.children[name] = value;
  else parent.children[name] = Array.isArray(before) ? [...before, value] : [before, value];
}

function contentOf({ attributes, children, text }: Element): Value {
  const trimmed = text.trim();
  if (Object.keys(attributes).length + Object.keys(children).length === 0) return trimmed;
  return { ...attributes, ...children, ...(trimmed === '' ? {} : { '#text': trimmed }) };
}

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [, name = '', double, single] of text.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    if (!name.startsWith('xmlns')) attributes[`@${withoutPrefix(name)}`] = decoded(double ?? single ?? '');
  }
  return attributes;
}

const withoutPrefix = (name: string) => name.replace(/^[^:]*:/, '');

function decoded(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return entities[name] ?? whole;
  });
}
