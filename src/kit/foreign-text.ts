/**
 * What a remote said, as far as it may be part of a message that viewers, logs and alerts show. Words that errors are made of stay;
 * anything else may be a guest's data, a secret or a control character, and becomes "…". Every text of a remote passes here before it gets
 * into a message: `test/foreign-text.test.ts` lists the places. The text itself is kept where reading it is audited.
 */
export function foreignText(said: string, isKnown: (word: string) => boolean = isVocabulary): string {
  return said
    .slice(0, 300)
    .replace(/\S+@\S+/g, '…')
    .replace(/[^\p{L}\p{N}\s.,:;/()'"’?=…_-]/gu, ' ')
    .replace(/[\p{L}\p{N}]+/gu, (word) => (isKnown(word) ? word : '…'))
    .replace(/…(?:[\s.,:;/()'"’?=_-]*…)+/g, '…')
    .replace(/\s+/g, ' ')
    .replace(/^[\s,;]+|[.,:;\s]+$/g, '');
}

/** A short number, or a word whose parts are all known: AccessDenied, REQUIRED. */
export function isVocabulary(word: string): boolean {
  const parts = word.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|./gu) ?? [];
  return parts.every((part) => vocabulary.has(part.toLowerCase()) || /^\d{1,3}$/.test(part));
}

const vocabulary: ReadonlySet<string> = new Set(
  `a about above accept acceptable accepted access account action active add added address after again algorithm all allowed
  already an and any api application archived are argument array as at attempt attribute attributes auth authentication authorization
  authorized available back backend bad base batch be because been before below between birth blocked body boolean both bucket busy but by
  call calls can cannot certificate change changed character characters charset check city client code column compliance condition
  conditional configuration configured conflict connection constraint contact contacts contain contains content copied country cpu
  create created credential credentials cross currency data database date day days db decimal default delete deleted denied
  deprecated detected did different digest digits disabled discarded does doesn domain down due duplicate duplicates each early element
  email empty enabled encoded encoding encryption end endpoint enough entity entry error errors event events exceed exceeded exceeds
  exceeding exist existing exists expected expired explicit external fail failed failure false field fields file filter first float
  for forbidden foreign format found from full function gateway generic given grant granted group has have head header headers hour hours
  html http https id identifier identity if illegal import in inactive incorrect index initialized input insert instead insufficient
  int integer interaction internal invalid is isn issue item items it its json key keys known language last later left length less level limit
  limits list location locked login loyalty long lookup maintenance malformed many map match matching max maximum md5 media member memory message
  method min minimum minute minutes misconfigured missing mobile mode more most moved must name names negative network new no
  nationality non none not null number object objects of offset ok old on once one only open operation operator or order origin other out over overloaded own owner
  page parameter parameters parse part partial passed password path pattern payload pending per permanent permanently permission
  permissions permitted phone pkey please plan plain position possible postal precondition prefix present primary private
  privilege privileges process processed profile profiles properties property protected provide provided public put query quota
  range rate reached read ready reason record records redirect reduce refused region registered rejected relation relationship
  remote removed repeat replaced request requested requester requests require required requires resource response restricted result
  retry right role row rows rule same scheduled schema scope second seconds secret sequence server service session set setting short
  should signature signed size skewed slow so some source space specification specified sql standard start state status storage street string
  subscribe subscribed subscriber subscription such support supported syntax system table tables tag takes target temporarily temporary text
  than that the their them there these this throttled throttling tier time timed timeout times timestamp timezone title to token tokens too
  total transaction try type unable unauthorized unavailable under unexpected unique unknown unprocessable unreadable unreserved unsubscribe
  unsubscribed unsupported until unverified update updated upload upstream uri url use used user users utf uuid valid validation value
  values variable vary verified verify version violates
  violation violated was way were when where which whole will with within without word write wrong xml year years you your zero zip zone`.split(
    /\s+/,
  ),
);
