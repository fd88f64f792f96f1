/** Months by name, without accents; further forms of a name are separated by a slash. */
const languages = `
  january february march april may june july august september october november december
  janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
  enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre
  janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
  januar/janner februar marz/mrz april mai juni juli august september oktober november dezember
  gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
  januari februari maart/mrt april mei juni juli augustus september oktober november december
  januari februari mars/marts april maj/mai juni juli augusti september oktober november desember
  tammikuu helmikuu maaliskuu huhtikuu toukokuu kesakuu heinakuu elokuu syyskuu lokakuu marraskuu joulukuu
  styczen/stycznia luty/lutego marzec/marca kwiecien/kwietnia maj czerwiec/czerwca lipiec/lipca sierpien/sierpnia wrzesien/wrzesnia pazdziernik listopad grudzien/grudnia
`;

const english = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const names = languages
  .trim()
  .split('\n')
  .flatMap((line) =>
    line
      .trim()
      .split(' ')
      .flatMap((forms, month) => forms.split('/').map((name) => ({ name, month: month + 1 }))),
  );

/** 1 to 12 for a month's name or its beginning, in English and the languages above; undefined if it is unknown or fits two months. */
export function monthOf(word: string): number | undefined {
  const plain = word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const short = english.indexOf(plain);
  if (short >= 0) return short + 1;
  if (plain.length < 3) return undefined;
  const found = new Set(names.filter(({ name }) => name.startsWith(plain)).map(({ month }) => month));
  // Finnish and Polish add an ending to the name: 16. marraskuuta.
  if (found.size === 0)
    for (const { name, month } of names) if (name.length > 3 && plain.startsWith(name)) found.add(month);
  return found.size === 1 ? [...found][0] : undefined;
}
