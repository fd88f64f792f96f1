/**
 * What a remote said, as far as it may be part of a message that viewers, logs and alerts show. Words that errors are made of stay;
 * anything else may be a guest's data, a secret or a control character, and becomes "…". Every text of a remote passes here before it gets
 * into a message: `test/foreign-text.test.ts` lists the places. The text itself is kept where reading it is audited.
 */
export function foreignText(said: string, isKnown: (word: string) => boolean = isVocabulary): string {
  return said
    .slice(0, 300)
    .replace(/\S+@\S+/g, '…')
    .replace(numbers, (number, at: number, text: string) =>
      isTechnical(number, text.slice(0, at), text.slice(at + number.length), isKnown) ? number : '…',
    )
    .replace(/[^\p{L}\p{N}\s.,:;/()'"’?=…_-]/gu, ' ')
    .replace(/[\p{L}\p{N}]+/gu, (word) => (/^\d{1,3}$/.test(word) || isKnown(word) ? word : '…'))
    .replace(/…(?:[\s.,:;/()'"’?=_-]*…)+/g, '…')
    .replace(/\s+/g, ' ')
    .replace(/^[\s,;]+|[.,:;\s]+$/g, '');
}

/** All digits that no letter separates are one number: a phone number, a date or a card may be written in any groups. */
const numbers = /\p{N}(?:[^\p{L}\p{N}]*\p{N})*/gu;

/** A status, a position or a count: up to three digits beside a word that says so. A word that is not known may make it a date or an address. */
function isTechnical(number: string, before: string, after: string, isKnown: (word: string) => boolean): boolean {
  const [, joined, last = ''] = /(\p{L}*)$|(\p{L}+)[^\p{L}\p{N}]*$/u.exec(before) ?? [];
  const [, next = ''] = /^[^\p{L}\p{N}]*(\p{L}+)/u.exec(after) ?? [];
  // A part of a word is judged with it.
  if (joined || /^\p{L}/u.test(after)) return /^\p{N}+$/u.test(number);
  if (last.toLowerCase() === 'utf' && before.endsWith('-')) return number === '8';
  if (!/^\d{1,3}$/.test(number)) return isKnown(number);
  if ([last, next].some((word) => word !== '' && !isKnown(word))) return false;
  const isCode = /\b(?:error|status|response|http) code\W*$/i.test(before);
  return isCode || isKnown(number) || numbered.has(last.toLowerCase()) || counted.has(next.toLowerCase());
}

const numbered: ReadonlySet<string> = new Set(
  'argument attempt character column element error field http index item length limit line max maximum min minimum offset page parameter position row size status'.split(
    ' ',
  ),
);
const counted: ReadonlySet<string> = new Set(
  'attempts calls characters contacts digits errors hours items minutes records requests rows seconds'.split(' '),
);

/** A word whose parts are all known: AccessDenied, REQUIRED, sha256. */
export function isVocabulary(word: string): boolean {
  const parts = vocabulary.has(word.toLowerCase()) ? [] : (word.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|./gu) ?? []);
  return parts.every((part) => vocabulary.has(part.toLowerCase()));
}

const vocabulary: ReadonlySet<string> = new Set(
  `base64 md5 oauth2 s3 sha1 sha256 sha512 utf8
  a about above accept acceptable accepted access account action active add added address after again algorithm all allowed
  already an and any api application archived are argument array as at attempt attribute attributes auth authentication authorization
  authorized available back backend bad base batch be because been before below between birth blocked body boolean both bucket busy but by
  call calls can cannot certificate change changed character characters charset check city client code column compliance condition
  conditional configuration configured conflict connection constraint contact contacts contain contains content copied country cpu
  create created credential credentials cross currency data database date day days db decimal default delete deleted denied
  deprecated detected did different digest digits disabled discarded does doesn domain down due duplicate duplicates each early element
  email empty enable enabled encoded encoding encryption end endpoint enough entity entry error errors event events exceed exceeded exceeds
  exceeding exist existing exists expected expired explicit external fail failed failure false feature features field fields file filter first float
  for forbidden foreign format found from full function gateway generic given grant granted group has have head header headers hour hours
  html http https id identifier identity if illegal import in inactive include included includes incorrect index initialized input insert instead insufficient
  int integer interaction internal invalid is isn issue item items it its json key keys known language last later left length less level limit line
  limits list location locked login loyalty long lookup maintenance malformed many map match matching max maximum media member memory message
  method min minimum minute minutes misconfigured missing mobile mode more most moved must name names negative network new no
  nationality non none not null number object objects of offset ok old on once one only open operation operator or order origin other out over overloaded own owner
  page parameter parameters parse part partial passed password path pattern payload pending per permanent permanently permission
  permissions permitted phone pkey please plan plain position possible postal precondition prefix present primary private
  privilege privileges process processed profile profiles properties property protected provide provided public put query quota
  range rate reached read ready reason record records redirect reduce refused region registered rejected relation relationship
  remote removed repeat replaced request requested requester requests require required requires resource response restricted result
  retry revoked right role row rows rule same scheduled schema scope second seconds secret sequence server service session set setting short
  should signature signed size skewed slow so some source space specification specified sql standard start state status storage street string
  subscribe subscribed subscriber subscription such support supported suspended syntax system table tables tag takes target temporarily temporary tenant text
  than that the their them there these this throttled throttling tier time timed timeout times timestamp timezone title to token tokens too
  total transaction try type unable unauthorized unavailable under unexpected unique unknown unprocessable unreadable unreserved unsubscribe
  unsubscribed unsupported until unverified update updated upgrade upload upstream uri url use used user users utf uuid valid validation value
  values variable vary verified verify version violates
  violation violated was way were when where which whole will with within without word write wrong xml year years you your zero zip zone`.split(
    /\s+/,
  ),
);
