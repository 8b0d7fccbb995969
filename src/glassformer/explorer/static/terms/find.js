// Finds the terms of the glossary in a text: in English in the plural too, in Korean with the particles after them.

/**
 * @typedef {{key: string, term: string, other: string, meaning: string, forms: string[], beside: string | null}} Term
 * @typedef {{start: number, end: number, key: string}} Found
 * @typedef {{terms: Map<string, Term>, find: (text: string) => Found[]}} Finder
 */

const PARTICLES =
  "들|은|는|이|가|을|를|의|에|게|서|로|으로|와|과|도|만|나|까지|부터|보다|마다|처럼|라|란|고|며|다|이다|입니다|이라|이란|이나|이며|이고|라는|이라는|라고|이라고|뿐|끼리|별|대로|조차|씩|인|임|이든|일";
const AFTER = { en: "(?![\\p{L}\\p{N}_]|-\\p{L})", ko: `(?=(?:${PARTICLES}){0,4}(?![가-힣A-Za-z0-9_]))` };
const BEFORE = { en: "(?<![\\p{L}\\p{N}_-])", ko: "(?<![가-힣A-Za-z_])" };

/**
 * @param {Term[]} terms
 * @param {"ko" | "en"} language
 * @returns {Finder}
 */
export function finder(terms, language) {
  /** @type {Map<string, {key: string, form: string}>} */
  const forms = new Map();
  for (const { key, forms: own } of terms) for (const form of own) forms.set(plain(form), { key, form });
  const longestFirst = [...forms.values()].sort((a, b) => b.form.length - a.form.length).map(({ form }) => pattern(form, language));
  const expression = new RegExp(`${BEFORE[language]}(?:${longestFirst.join("|")})${AFTER[language]}`, "giu");
  return {
    terms: new Map(terms.map((term) => [term.key, term])),
    find: (text) => {
      /** @type {Found[]} */
      const found = [];
      for (const match of text.matchAll(expression)) {
        const known = forms.get(plain(match[0])) ?? forms.get(singular(plain(match[0])));
        // a name with capitals is that name only as it is written
        if (!known || (/\p{Lu}/u.test(known.form) && !match[0].startsWith(known.form))) continue;
        found.push({ start: match.index, end: match.index + match[0].length, key: known.key });
      }
      return found;
    },
  };
}

const plain = (/** @type {string} */ text) => text.toLowerCase().replace(/\s+/g, " ");

/**
 * @param {string} form
 * @param {"ko" | "en"} language
 */
function pattern(form, language) {
  const written = form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ /g, "\\s+");
  if (language === "ko") return written;
  return /[^aeiou]y$/.test(form) ? `${written.slice(0, -1)}(?:y|ies)` : `${written}(?:${/(s|x|ch)$/.test(form) ? "es" : "s"})?`;
}

/** @param {string} text */
const singular = (text) => (text.endsWith("ies") ? `${text.slice(0, -3)}y` : /(s|x|ch)es$/.test(text) ? text.slice(0, -2) : text.replace(/s$/, ""));
