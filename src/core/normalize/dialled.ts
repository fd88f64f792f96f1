import { type CountryCode, Metadata } from 'libphonenumber-js/max';

/**
 * Numbers that are written as they are dialled, at home or with a plus, which most are. The library compiles the patterns of a region again
 * for each number; here they are asked for once. What needs more than a look at them (a carrier code, an extension, a mistake) is left to the
 * library: test/normalize/dialled.test.ts compares the two.
 */
export function dialled(text: string, region: CountryCode | undefined): string | undefined {
  if (!usual.test(text)) return undefined;
  const digits = text.replace(/[ ().-]/g, '');
  const isInternational = digits.startsWith('+');
  if (!isInternational) return region && national(digits, planOf(region), false);
  // No calling code begins with another one.
  for (const end of [2, 3, 4]) {
    const plan = planOfCode(digits.slice(1, end));
    if (plan !== undefined) return national(digits.slice(end), plan, true);
  }
  return undefined;
}

const usual = /^\+?(?:\d|\(\d+\))(?:[ .-]?(?:\d|\(\d+\))){4,16}$/;

interface Plan {
  readonly code: string;
  readonly isValid: (national: string) => boolean;
  /** What is dialled before a number within the country, and what before one of another country. */
  readonly trunk: RegExp | undefined;
  readonly abroad: RegExp | undefined;
  /** How the numbers of this country begin, among those of countries with the same code. */
  readonly leading: RegExp | undefined;
}

function national(digits: string, plan: Plan, isInternational: boolean): string | undefined {
  if (!isInternational && plan.abroad?.test(digits)) return undefined;
  const [trunk = ''] = plan.trunk?.exec(digits) ?? [];
  if (trunk !== '' && (isInternational || trunk !== '0' || plan.isValid(digits))) return undefined;
  const number = digits.slice(trunk.length);
  return plan.isValid(number) ? `+${plan.code}${number}` : undefined;
}

const metadata = new Metadata();
const plans = new Map<string, Plan>();
const planOf = (region: CountryCode): Plan => plans.getOrInsertComputed(region, () => read(region));

function read(region: CountryCode): Plan {
  metadata.selectNumberingPlan(region);
  const plan = metadata.numberingPlan as unknown as NumberingPlan;
  const whole = (pattern: string) => new RegExp(`^(?:${pattern})$`);
  const general = whole(plan.nationalNumberPattern());
  const types = kinds.flatMap((kind) => {
    const type = plan.type(kind);
    const pattern = type?.pattern();
    return pattern ? [{ lengths: type?.possibleLengths(), pattern: whole(pattern) }] : [];
  });
  const trunk = plan.nationalPrefixForParsing();
  const abroad = plan.IDDPrefix();
  const leading = plan.leadingDigits();
  return {
    code: plan.callingCode(),
    isValid: (number) =>
      general.test(number) &&
      types.some(({ lengths, pattern }) => lengths?.includes(number.length) !== false && pattern.test(number)),
    trunk: trunk ? new RegExp(`^(?:${trunk})`) : undefined,
    abroad: abroad ? new RegExp(`^(?:${abroad})`) : undefined,
    leading: leading ? new RegExp(`^(?:${leading})`) : undefined,
  };
}

const plansOfCodes = new Map<string, Plan | undefined>();
const planOfCode = (code: string): Plan | undefined => plansOfCodes.getOrInsertComputed(code, () => joint(code));

/** Of the main country of a calling code; a number may be one of any of its countries, the first of them that it fits. */
function joint(code: string): Plan | undefined {
  const [main, ...others] = ((metadata as unknown as Codes).getCountryCodesForCallingCode(code) ?? []).map(planOf);
  if (main === undefined || others.length === 0) return main;
  const owner = (number: string) =>
    [main, ...others].find(({ leading, isValid }) => (leading ? leading.test(number) : isValid(number)));
  return { ...main, isValid: (number) => owner(number)?.isValid(number) === true };
}

interface Codes {
  getCountryCodesForCallingCode(code: string): CountryCode[] | undefined;
}

/** What the library's class offers and its types do not. */
interface NumberingPlan {
  callingCode(): string;
  nationalNumberPattern(): string;
  nationalPrefixForParsing(): string | undefined;
  IDDPrefix(): string | undefined;
  leadingDigits(): string | undefined;
  type(kind: string): { pattern(): string | undefined; possibleLengths(): number[] | undefined } | undefined;
}

const kinds = [
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
];
