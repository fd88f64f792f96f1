import type { Guest } from '../../../canonical/reservation.ts';
import { guestsOf } from '../../consent.ts';
import type { Outcome } from '../../destination.ts';
import { type Delivery, type Message, type MessageData, messageJson } from '../../message.ts';
import { momentOf, type StayMoment } from '../../moment.ts';
import { compile, merge, type Operation, type Rule, valuesOf } from './compile-operation.ts';
import { type SituationName, situationNames } from './operation.ts';
import { erasedPeople, formerOf, otherContactsOf, ownerOf, type Person, peopleOf } from './people.ts';
import { presets } from './preset.ts';
import type { Settings } from './settings.ts';
import { stayOf } from './stay.ts';
import { compileLine, compileTemplate, type Scope } from './template.ts';
import type { PlannedItem, Stage } from './turns.ts';

/** Settings and preset, merged and compiled: the requests that a batch of deliveries becomes. */

export function compilePlan(settings: Settings) {
  const preset = settings.preset === undefined ? undefined : presets.get(settings.preset);
  const values = valuesOf(settings, preset);
  const each = settings.each ?? preset?.each ?? 'record';
  // The settings' `requires` and `skip_if` apply to whole items and are checked below; those of a rule apply to its request only.
  const usual: Rule = { ...merge(preset ?? {}, settings), requires: undefined, skip_if: undefined };
  const usualSteps = [compile({ ...usual, batch: preset?.alone ? 1 : undefined }, values, preset?.limits)];
  const { url, headers, failure, limit } = usual;
  const inherited = { url, headers, failure, limit, body: 'none', batch: 1 };
  const stepsOf = (name: SituationName): readonly Operation[] | undefined => {
    const own = preset?.on[name] ?? [];
    const presetRules = Array.isArray(own) ? own : [own];
    // The settings change the last request; the earlier ones only prepare it.
    const rules = [...presetRules.slice(0, -1), merge(presetRules.at(-1) ?? {}, settings.on[name] ?? {})];
    if (rules.every((rule) => Object.keys(rule).length === 0)) return undefined;
    if (rules.at(-1)?.skip === true) return [];
    // A vendor hears one withdrawal once, however many bookings of a batch say it.
    const once = name === 'withdrawn' && each === 'guest' && { unique: '{guest.key}' };
    return rules.map((rule) => compile({ ...inherited, ...once, ...merge({ headers }, rule) }, values, preset?.limits));
  };
  const situations = situationNames.map((name) => [name, stepsOf(name)] as const);
  const steps: { readonly [Name in Stage]?: readonly Operation[] | undefined } = {
    ...Object.fromEntries(situations),
    usual: usualSteps,
  };
  const requires = (settings.requires ?? preset?.requires ?? []).map((path) => compileLine(`{${path}}`));
  const unwanted = (settings.skip_if ?? preset?.skip_if ?? []).map((path) => compileTemplate(`{${path}}`));
  /** Most bodies are the message itself. Computing the stay for them took 5 of 16 µs per record (2 cores arm64). */
  const mentionsStay = JSON.stringify([preset, settings]).includes('stay');
  const isWanted = (scope: Scope): boolean =>
    requires.every((has) => has(scope) !== undefined) && unwanted.every((is) => is(scope) !== true);

  const { withdrawn, moved } = steps;
  const isMoving = moved !== undefined && moved.length > 0 && !preset?.keeps_moved;
  return {
    each,
    isReadable: Object.values(steps).some((some) => some?.some(({ read }) => read !== undefined)),
    /** Set if no request can express what the delivery says, or none has to. */
    withoutRequest: (delivery: Delivery): Outcome | undefined =>
      notExpressed(delivery) ?? (each === 'guest' && isKnown(delivery) ? { kind: 'delivered' } : undefined),
    /** None if the message holds nothing for this destination. */
    items(delivery: Delivery, index: number): PlannedItem[] {
      const { message, changedAt, byConsent } = delivery;
      const earlier = delivery.earlier?.();
      const isErasure = message.event === 'erased';
      const isRemoval = message.event === 'removed';
      const moment = isRemoval ? undefined : earlier && momentOf(message, earlier[0], changedAt);
      const whole = scopeOf(delivery, message, moment);
      // A request about a reservation as a whole names nobody.
      const isNamed = each === 'guest' || message.type === 'guest';
      const people = isNamed ? (isErasure ? erasedPeople(delivery) : peopleOf(delivery)) : [];
      const subjects = subjectsOf(delivery, whole, people);
      const staying = isErasure && each === 'guest' ? subjectsOf(delivery, whole, peopleOf(delivery)) : subjects;
      const lead = staying.find(({ isEnding: ends }) => !(byConsent && ends));
      const isKept = each === 'guest' && earlier !== undefined && earlier.length > 0;
      const withdrew = byConsent && !isErasure && guestsOf(message.type, message.data).every(refuses);
      // A stay that the destination has is kept up to date, even if none of its guests has an address any more.
      const ofStay = lead ?? (isKept && !withdrew ? nobody(whole) : undefined);
      const leading = lead?.scope.guest as Person | undefined;
      const former =
        each === 'guest' ? formerOf(delivery, leading, (guest) => isWanted({ ...whole, guest })) : undefined;
      const isAlong = (one: Subject) =>
        one !== lead && !isErasure && (one.scope.guest as Person).marketing_consent === true;
      const companions = (
        each === 'guest' && lead && message.type === 'reservation' ? staying.filter(isAlong) : []
      ).map((one) => companionOf(one, moment));
      const namesGuest = each === 'guest' && steps.stay !== undefined && message.type === 'reservation';
      const all = [
        // The guest of the stay may be gone at the vendor, such as moved by another record.
        ...(isErasure && lead && namesGuest ? [{ stage: 'usual' as const, subject: lead }] : []),
        ...subjects.flatMap((subject) => stagesOf(delivery, subject).map((stage) => ({ stage, subject }))),
        ...(ofStay && message.type === 'reservation' ? [{ stage: 'stay' as const, subject: ofStay }] : []),
        ...(lead && moment ? [{ stage: 'moment' as const, subject: lead }] : []),
        ...companions.flatMap((subject) => [
          { stage: 'stay' as const, subject },
          ...(moment ? [{ stage: 'moment' as const, subject }] : []),
        ]),
      ];
      const withdrawals = subjects.filter(({ isEnding: ends }) => ends);
      const further = isErasure || each === 'record' ? [] : contactsBeside(delivery, whole, subjects, withdrawals);
      const isWhole = !delivery.onlyWithdrawals || (each === 'record' && byConsent);
      const planned = [
        ...(isWhole && !isRemoval ? all : withdrawals.map((subject) => ({ stage: 'withdrawn' as const, subject }))),
        ...further.map((subject) => ({ stage: withdrawn ? ('withdrawn' as const) : ('usual' as const), subject })),
        // Nothing more is sent of a stay without consent: left as it is, it would soon be wrong.
        ...(isRemoval || (withdrew && each === 'guest') ? removalOf(delivery, earlier?.[0]) : []),
      ];
      return planned
        .flatMap(({ stage, subject: { scope, found, number } }) =>
          (steps[stage] ?? []).map((operation, step): PlannedItem => {
            const person = number > 0 || subjects.length > 1 ? `-${number}` : '';
            const suffix = stage === (isErasure ? 'erased' : 'usual') ? '' : `-${stage}`;
            const key = `${message.idempotency_key}${person}${suffix}${step === 0 ? '' : `-${step}`}`;
            // A stay names its guest, and an erasure leaves no earlier version to compare with.
            const own = stage === 'stay' ? { ...scope, empties_guest: true, ...(former && { former }) } : scope;
            return { index, subject: number, operation, stage, scope: own, found, key, changedAt };
          }),
        )
        .filter(({ operation }) => !operation.skip);
    },
  };

  /**
   * The outcome of an erasure, a withdrawal of consent or a removal that none of the requests can express. The usual request would send the
   * guest like any other, and its answer would count as the confirmation. The message itself, without a body, says what happened.
   */
  function notExpressed(delivery: Delivery): Outcome | undefined {
    const { message, byConsent } = delivery;
    if (usual.body === undefined) return undefined;
    const body = JSON.stringify(usual.body);
    const isAboutGuests = each === 'guest' || message.type === 'guest';
    if (message.event === 'erased') {
      const isSaid = steps.erased !== undefined || body.includes('{event') || !isAboutGuests;
      return isSaid || erasedPeople(delivery).length === 0 ? undefined : dead('erased');
    }
    if (message.event === 'removed') {
      const isSaid = steps.removed !== undefined || /\{(?:event|data\.status)/.test(body);
      return isSaid || each === 'guest' ? undefined : dead('removed');
    }
    const withdraws = byConsent && guestsOf(message.type, message.data).some(refuses);
    const isSaid = (withdrawn !== undefined && isAboutGuests) || body.includes('consent');
    return withdraws && !isSaid ? dead('withdrawn') : undefined;
  }

  function scopeOf({ changedAt, mayHaveArrived }: Delivery, message: Message, moment: StayMoment | undefined): Scope {
    const isNewlyCancelled = moment?.kind === 'cancelled';
    const json = messageJson(message);
    return {
      ...json,
      message: json,
      changed_at: new Date(changedAt).toISOString(),
      with: values,
      ...(mentionsStay && { stay: stayOf(message, isNewlyCancelled ? changedAt : undefined) }),
      ...(moment && { moment }),
      ...(mayHaveArrived && { may_have_arrived: true }),
    };
  }

  /** A vendor deletes or closes the stay of a record that left; its people stay. */
  function removalOf(delivery: Delivery, before: MessageData | undefined): { stage: Stage; subject: Subject }[] {
    const { message } = delivery;
    if (each === 'guest' && (message.type !== 'reservation' || before === undefined)) return [];
    const last = usual.body === undefined ? message : closed(message, before);
    const otherwise = each === 'record' ? 'usual' : 'stay';
    return [{ stage: steps.removed ? 'removed' : otherwise, subject: nobody(scopeOf(delivery, last, undefined)) }];
  }

  /** The guests, or the record, that requests are about. */
  function subjectsOf(delivery: Delivery, whole: Scope, people: readonly Person[]): Subject[] {
    const { message, byConsent } = delivery;
    if (each === 'record') {
      const guest = message.type === 'guest' ? (people[0] ?? message.data) : undefined;
      const subject = subjectOf(guest ? { ...whole, guest } : whole, 0, isEnding(delivery, guest as Person));
      return isWanted(subject.scope) ? [subject] : [];
    }
    const wanted = people
      .map((guest, number) => subjectOf({ ...whole, guest }, number, isEnding(delivery, guest)))
      .filter(({ scope }) => isWanted(scope));
    const unique = usualSteps[0]?.unique;
    if (unique === undefined) return wanted;
    // A vendor has one person per address.
    return [...Map.groupBy(wanted, ({ scope }) => unique(scope)?.toLowerCase() ?? '').values()].flatMap((sharing) => {
      const active = byConsent ? sharing.filter((one) => !one.isEnding) : sharing;
      const candidates = active.length > 0 ? active : sharing;
      const owner = ownerOf(
        candidates.map(({ scope }) => scope.guest as Person),
        delivery,
      );
      return candidates.find(({ scope }) => scope.guest === owner) ?? [];
    });
  }

  /** The other contacts of guests who withdrew, each once. */
  function contactsBeside(
    delivery: Delivery,
    whole: Scope,
    subjects: readonly Subject[],
    withdrawals: readonly Subject[],
  ): Subject[] {
    const guests = withdrawals.flatMap(({ scope }) => otherContactsOf(delivery, scope.guest as Person, isMoving));
    const known = new Set(subjects.map(({ scope }) => (scope.guest as Person).key));
    const first = guestsOf(delivery.message.type, delivery.message.data).length;
    return [...new Map(guests.map((guest) => [guest.key, guest])).values()]
      .filter(({ key }) => !known.has(key))
      .map((guest, n) => subjectOf({ ...whole, guest }, first + n, true))
      .filter(({ scope }) => isWanted(scope));
  }

  function stagesOf({ message, byConsent }: Delivery, { scope, isEnding: ends }: Subject): Stage[] {
    const guest = scope.guest as Person | undefined;
    if (message.event === 'erased') return [steps.erased ? 'erased' : 'usual'];
    const arriving: Stage[] = [
      ...(guest?.is_new ? ['new_guest' as const] : []),
      ...(guest?.previous ? ['moved' as const] : []),
    ];
    const sent: Stage[] = [...arriving, 'usual', 'details'];
    if (ends && steps.withdrawn) {
      // Under `consent: marketing` the destination gets nothing of the guest but the withdrawal.
      return byConsent ? ['withdrawn'] : [...sent, 'withdrawn'];
    }
    const agreed = guest?.consent_change === 'first' || guest?.consent_change === 'given';
    return [...sent, ...(agreed ? ['consented' as const] : [])];
  }
}

/** The version that the destination has, with the status `removed`: a stay that is not deleted is closed. */
const closed = (message: Message, before: MessageData | undefined): Message => ({
  ...message,
  data: { ...before, id: message.data.id, status: 'removed' as never },
});

/** A new profile that says nothing beyond the bookings that a destination of people has. */
const isKnown = ({ message, ...delivery }: Delivery): boolean =>
  message.type === 'guest' &&
  message.event !== 'erased' &&
  message.removed === undefined &&
  delivery.consentChange?.(message.data) === undefined &&
  delivery.isKnown?.() === true;

const refuses = ({ marketing_consent: agrees }: Guest): boolean => agrees === false;

interface Subject {
  readonly scope: Scope;
  readonly found: Record<string, string>;
  /** The position of the guest in the message: the idempotency key depends on it. */
  readonly number: number;
  /** A withdrawal. */
  readonly isEnding: boolean;
}

function subjectOf(scope: Scope, number: number, ends: boolean): Subject {
  const found: Record<string, string> = {};
  return { scope: { ...scope, found }, found, number, isEnding: ends };
}

/** Another guest who agreed: the stay is theirs too, and each moment is one of their own. */
const companionOf = (subject: Subject, moment: StayMoment | undefined): Subject => ({
  ...subject,
  scope: {
    ...subject.scope,
    companion: 'true',
    ...(moment && { moment: { ...moment, id: `${moment.id}:${subject.number}` } }),
  },
});

const nobody = (scope: Scope): Subject => subjectOf(scope, 0, false);

const isEnding = ({ byConsent }: Delivery, guest: Person | undefined): boolean =>
  guest?.consent_change === 'withdrawn' || (byConsent && guest?.marketing_consent === false);

const words = {
  erased: 'The body of this destination cannot express an erasure, and there is no on.erased.',
  withdrawn: 'The body of this destination cannot express a withdrawal of consent, and there is no on.withdrawn.',
  removed: 'The body of this destination cannot express that a record was removed, and there is no on.removed.',
} as const;
const dead = (situation: keyof typeof words): Outcome => ({
  kind: 'dead',
  code: 'deliver.not_expressed',
  message: words[situation],
});
