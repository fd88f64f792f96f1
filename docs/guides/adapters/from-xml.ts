/**
 * An adapter: bytes of a response in, JSON out. This one reads plain XML without a library. Elements become keys, attributes
 * become '@name', text beside attributes becomes '#text', repeated elements become lists, empty ones become ''.
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
    const [, cdata, closing, name = '', attributes = '', empty, plain] = found;
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
    if (!name.startsWith('xmlns')) attributes[`@${name}`] = decoded(double ?? single ?? '');
  }
  return attributes;
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return entities[name] ?? whole;
  });
}
