import {
  type CountryCallingCode,
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  Metadata,
} from 'libphonenumber-js/max';

/**
 * Numbers that are written as they are dialled, at home or with a plus, which most are. The library compiles the patterns of a region again
 * for each number; here they are asked for once. What needs more than a look at them (a second country with the same code, a carrier code, an
 * extension, a mistake) is left to the library: test/normalize/dialled.test.ts compares the two.
 */
export function dialled(text: string, region: CountryCode | undefined): string | undefined {
  if (!usual.test(text)) return undefined;
  const digits = text.replace(/[ .-]/g, '');
  const isInternational = digits.startsWith('+');
  if (!isInternational) return region && national(digits, planOf(region), false);
  // No calling code begins with another one.
  const [plan] = [2, 3, 4].flatMap((end) => planOfCode(digits.slice(1, end)) ?? []);
  return plan && national(digits.slice(1 + plan.code.length), plan, true);
}

const usual = /^\+?\d(?:[ .-]?\d){5,16}$/;

interface Plan {
  readonly code: string;
  readonly isValid: (national: string) => boolean;
  /** What is dialled before a number within the country, and what before one of another country. */
  readonly trunk: RegExp | undefined;
  readonly abroad: RegExp | undefined;
  readonly isTrunkZero: boolean;
}

function national(digits: string, plan: Plan, isInternational: boolean): string | undefined {
  if (!isInternational && plan.abroad?.test(digits)) return undefined;
  const hasTrunk = plan.trunk?.test(digits) === true;
  if (hasTrunk && (isInternational || !plan.isTrunkZero || plan.isValid(digits))) return undefined;
  const number = hasTrunk ? digits.slice(1) : digits;
  return plan.isValid(number) ? `+${plan.code}${number}` : undefined;
}

const plans = new Map<string, Plan>();
const planOf = (region: CountryCode): Plan => plans.getOrInsertComputed(region, () => read(region));

function read(region: CountryCode): Plan {
  const metadata = new Metadata();
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
  return {
    code: plan.callingCode(),
    isValid: (number) =>
      general.test(number) &&
      types.some(({ lengths, pattern }) => lengths?.includes(number.length) !== false && pattern.test(number)),
    trunk: trunk ? new RegExp(`^(?:${trunk})`) : undefined,
    abroad: abroad ? new RegExp(`^(?:${abroad})`) : undefined,
    isTrunkZero: trunk === '0',
  };
}

/** By calling code, where only one country has it. */
const countries = Map.groupBy(getCountries(), (country) => getCountryCallingCode(country));

function planOfCode(code: string): Plan | undefined {
  const [only, second] = countries.get(code as CountryCallingCode) ?? [];
  return only === undefined || second !== undefined ? undefined : planOf(only);
}

/** What the library's class offers and its types do not. */
interface NumberingPlan {
  callingCode(): string;
  nationalNumberPattern(): string;
  nationalPrefixForParsing(): string | undefined;
  IDDPrefix(): string | undefined;
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
